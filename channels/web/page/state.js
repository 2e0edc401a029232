// All that the page knows, and how each frame or action changes it. Pure: no sockets, no timers, no DOM.

export const EMPTY = {
  phase: "connecting", // connecting, open, waiting, refused
  retryAt: 0,
  greeted: false, // a hello was received once
  viewer: "",
  notice: "",
  commands: [],
  maxCharacters: 100_000,
  skew: 0, // server clock minus ours, in ms
  entries: [], // what stands in the chat, oldest first; a card entry has cardId
  cards: {}, // card id → its newest state, wherever it is shown
  pending: [], // ids of open cards this viewer may decide
  outgoing: [], // said here, not yet acknowledged: {id, text, at, failed}
  typingUntil: 0,
  busy: {}, // card id → {press_id, token} of the press that waits for an answer
  asked: {}, // card id → {token, question, initial, title}: the words that a button wants
  replies: {}, // card id → {text, ok}: the last answer to a press
  error: "",
};

export function reduce(state, action) {
  switch (action.type) {
    case "phase":
      return { ...state, phase: action.phase, retryAt: action.retryAt ?? 0 };
    case "said-here":
      return { ...state, outgoing: [...state.outgoing, action.message] };
    case "try-again":
      return mapOutgoing(state, action.id, (message) => ({ ...message, failed: "" }));
    case "discard":
      return { ...state, outgoing: state.outgoing.filter((message) => message.id !== action.id) };
    case "pressed":
      return {
        ...state,
        busy: { ...state.busy, [action.cardId]: { pressId: action.pressId, token: action.token } },
        replies: without(state.replies, action.cardId),
      };
    case "unasked":
      return { ...state, asked: without(state.asked, action.cardId), replies: without(state.replies, action.cardId) };
    case "dismiss-error":
      return { ...state, error: "" };
    case "frame":
      return onFrame(state, action.frame, action.now);
    default:
      throw new Error(`unknown action ${action.type}`);
  }
}

function onFrame(state, frame, now) {
  if (frame.now) state = { ...state, skew: Date.parse(frame.now) - now };
  switch (frame.type) {
    case "hello":
      return onHello(state, frame);
    case "message":
    case "edit":
    case "card":
    case "card_update":
      return onEntry(state, frame.entry);
    case "pending":
      return withPending(state, frame.cards);
    case "typing":
      return { ...state, typingUntil: now + frame.seconds * 1000 };
    case "said":
      return onSaid(state, frame);
    case "press_reply":
      return onPressReply(state, frame);
    case "prompt":
      return onPrompt(state, frame);
    case "error":
      return { ...state, error: frame.text };
    default:
      return state; // pong, and frames of a newer server
  }
}

// Everything afresh: what was shown before a lost connection gives way to what the server knows.
function onHello(state, frame) {
  const known = new Set(frame.transcript.map((entry) => entry.id));
  const fresh = {
    ...state,
    greeted: true,
    viewer: frame.viewer,
    notice: frame.notice,
    commands: frame.commands,
    maxCharacters: frame.max_characters,
    entries: [],
    cards: {},
    outgoing: state.outgoing.filter((message) => !known.has(message.id)),
    busy: {},
    typingUntil: 0,
    error: "",
  };
  return withPending(frame.transcript.reduce(withEntry, fresh), frame.pending);
}

function onEntry(state, entry) {
  const next = withEntry(state, entry);
  return {
    ...next,
    outgoing: next.outgoing.filter((message) => message.id !== entry.id),
    typingUntil: entry.role === "bot" && !entry.draft ? 0 : next.typingUntil,
  };
}

function withEntry(state, entry) {
  const { card, ...row } = entry;
  if (card) {
    state = withCard(state, card);
    row.cardId = card.id;
  }
  const index = state.entries.findIndex((other) => other.id === row.id);
  if (index < 0) return { ...state, entries: [...state.entries, row] };
  const entries = [...state.entries];
  entries[index] = { ...row, at: entries[index].at };
  return { ...state, entries };
}

function withCard(state, card) {
  const isOpen = card.state === "open";
  return {
    ...state,
    cards: { ...state.cards, [card.id]: card },
    busy: isOpen ? state.busy : without(state.busy, card.id),
    asked: isOpen ? state.asked : without(state.asked, card.id),
    pending: isOpen ? state.pending : state.pending.filter((id) => id !== card.id),
  };
}

function withPending(state, cards) {
  const next = cards.reduce(withCard, state);
  return { ...next, pending: cards.map((card) => card.id) };
}

function onSaid(state, frame) {
  const message = state.outgoing.find((one) => one.id === frame.client_id);
  if (!message) return state;
  if (!frame.ok) return mapOutgoing(state, message.id, (one) => ({ ...one, failed: frame.text }));
  const rest = { ...state, outgoing: state.outgoing.filter((one) => one !== message) };
  return withEntry(rest, {
    id: message.id, role: "user", text: message.text, at: message.at, markdown: false, draft: false,
  });
}

const cardOf = (state, pressId) => Object.keys(state.busy).find((id) => state.busy[id].pressId === pressId);

function onPrompt(state, frame) {
  const cardId = cardOf(state, frame.press_id);
  if (!cardId) return state;
  const { token, question, initial, title } = frame;
  return {
    ...state,
    busy: without(state.busy, cardId),
    asked: { ...state.asked, [cardId]: { token, question, initial, title } },
  };
}

// A refusal leaves the words where they are, to be mended.
function onPressReply(state, frame) {
  const cardId = cardOf(state, frame.press_id);
  if (!cardId) return state;
  return {
    ...state,
    busy: without(state.busy, cardId),
    asked: frame.ok ? without(state.asked, cardId) : state.asked,
    replies: { ...state.replies, [cardId]: { text: frame.text, ok: frame.ok } },
  };
}

function mapOutgoing(state, id, change) {
  return { ...state, outgoing: state.outgoing.map((one) => (one.id === id ? change(one) : one)) };
}

function without(record, key) {
  if (!(key in record)) return record;
  const { [key]: _, ...rest } = record;
  return rest;
}

// Open cards of this viewer that do not stand in this chat, such as those of another channel.
export function isForeign(state, cardId) {
  return !state.entries.some((entry) => entry.cardId === cardId);
}

export function isWorking(state, now) {
  return state.typingUntil > now || state.entries.some((entry) => entry.draft);
}
