// The page: one state, one connection, and the pieces that show and change them.

import { html, render, useEffect, useMemo, useReducer, useRef, useState } from "./vendor/htm-preact.module.js";
import { useNow } from "./clock.js";
import { Composer } from "./composer.js";
import { Connection } from "./connection.js";
import { icons, Logo } from "./icons.js";
import { _, fill } from "./language.js";
import { Messages } from "./messages.js";
import { showBadge, useCardNotices } from "./notify.js";
import { Pending } from "./pending.js";
import { EMPTY, isForeign, isWorking, reduce } from "./state.js";
import { readOutgoing, readText, writeOutgoing, writeText } from "./keep.js";

const PHASE_WORDS = {
  connecting: _("Connecting"), open: _("Connected"), waiting: _("Not connected"), refused: _("Logged out"),
};

const LOGIN = html`<code>echo-bot login</code>`;
const THEME_WORDS = {
  auto: _("Theme: auto"), light: _("Theme: light"), dark: _("Theme: dark"),
};

function App() {
  const [state, dispatch] = useReducer(reduce, { ...EMPTY, outgoing: readOutgoing() });
  const [text, setText] = useState(readText);
  const [drawer, setDrawer] = useState(false);
  const [lastSaid, setLastSaid] = useState("");
  const latest = useRef(state);
  latest.current = state;

  const connection = useMemo(() => {
    const url = new URL("ws", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    return new Connection(
      url,
      (frame) => dispatch({ type: "frame", frame, now: Date.now() }),
      (phase, retryAt) => dispatch({ type: "phase", phase, retryAt }),
    );
  }, []);
  useEffect(() => connection.open(), []);
  useEffect(() => writeOutgoing(state.outgoing), [state.outgoing]);
  useEffect(() => writeText(text), [text]);
  // Whatever was not acknowledged is said again after every hello; the server knows it by its id.
  useEffect(() => {
    if (state.phase !== "open") return;
    for (const message of latest.current.outgoing) if (!message.failed) sendSay(connection, message);
  }, [state.phase]);
  const waiting = state.pending.length;
  useEffect(() => showBadge(waiting), [waiting]);

  const say = (words) => {
    const message = { id: newId(), text: words, at: new Date().toISOString(), failed: "" };
    dispatch({ type: "said-here", message });
    sendSay(connection, message);
    setLastSaid(words);
  };
  const tryAgain = (message) => {
    dispatch({ type: "try-again", id: message.id });
    sendSay(connection, message);
  };
  const toServer = (card, button, fields) => {
    const pressId = newId();
    const entry = state.entries.find((one) => one.cardId === card.id);
    const frame = { press_id: pressId, token: button.token, message_id: entry?.id ?? "", ...fields };
    if (connection.send(frame)) dispatch({ type: "pressed", cardId: card.id, pressId, token: button.token });
  };
  const actions = {
    press: (card, button, text) => toServer(card, button, { type: "press", text }),
    ask: (card, button) => toServer(card, button, { type: "ask" }),
    unask: (card) => dispatch({ type: "unasked", cardId: card.id }),
  };
  // A card of another chat stands in the drawer alone.
  const show = (cardId) => {
    const { pending } = latest.current;
    setDrawer(pending.includes(cardId) && isForeign(latest.current, cardId));
    requestAnimationFrame(() => {
      const node = document.getElementById(`card-${cardId}`);
      node?.scrollIntoView({ block: "center", behavior: "smooth" });
      node?.focus({ preventScroll: true });
    });
  };
  useCardNotices(state, show);
  const now = useNow(1000);
  const working = state.phase === "open" && isWorking(state, now);
  const isEmpty = state.greeted && state.entries.length === 0 && state.outgoing.length === 0;
  return html`
    <${Header} state=${state} onDrawer=${() => setDrawer(!drawer)} isOpen=${drawer} />
    <${Banner} state=${state} now=${now} onRetry=${() => connection.retryNow()} dispatch=${dispatch} />
    <${Messages} state=${state} working=${working} actions=${actions} onTryAgain=${tryAgain}
      onDiscard=${(message) => dispatch({ type: "discard", id: message.id })}>
      ${isEmpty && html`<${Welcome} notice=${state.notice} onPick=${setText} />`}
    </${Messages}>
    <${Composer} commands=${state.commands} notice=${isEmpty ? "" : state.notice} maxCharacters=${state.maxCharacters}
      working=${working} text=${text} setText=${setText} lastSaid=${lastSaid}
      onSay=${(words) => { setText(""); say(words); }} onStop=${() => say("/stop")} />
    ${drawer && html`<${Pending} state=${state} actions=${actions} onShow=${show} onClose=${() => setDrawer(false)} />`}`;
}

function Header({ state, onDrawer, isOpen }) {
  const [theme, setTheme] = useState(window.echoTheme.get());
  const count = state.pending.length;
  return html`
    <header class="top">
      <div class="brand"><${Logo} size=${30} /><span class="brand-words"><b>Echo Bot</b>
        <span class=${`phase is-${state.phase}`} role="status">${PHASE_WORDS[state.phase]}</span></span></div>
      <div class="tools">
        <button type="button" class=${`icon-button inbox ${count ? "has-some" : ""}`} onClick=${onDrawer}
          aria-expanded=${isOpen ? "true" : "false"} title=${_("Cards that wait for you")}
          aria-label=${count ? _("Waiting cards: {count}", { count }) : _("Waiting cards: none")}>
          ${icons.inbox}${count > 0 && html`<span class="badge" aria-hidden="true">${count}</span>`}</button>
        <button type="button" class="icon-button" onClick=${() => setTheme(window.echoTheme.next())}
          title=${THEME_WORDS[theme]} aria-label=${THEME_WORDS[theme]}>${icons[theme]}</button>
        <form method="post" action="/logout"><button type="submit" class="icon-button" title=${_("Log out")}
          aria-label=${_("Log out")}>${icons.leave}</button></form>
      </div>
    </header>`;
}

function Banner({ state, now, onRetry, dispatch }) {
  if (state.phase === "refused") return html`
    <div class="banner refused" role="alert"><span>${fill("You are logged out here. Run {command} and open the link it prints.", { command: LOGIN })}</span>
      <a class="act plain" href="/">${_("Reload")}</a></div>`;
  if (state.phase === "waiting") {
    const seconds = Math.max(0, Math.ceil((state.retryAt - now) / 1000));
    return html`<div class="banner" role="status"><span>${seconds > 1
      ? _("Echo Bot is not reachable. What you write is kept and sent when it is back (next try in {seconds} s).", { seconds })
      : _("Echo Bot is not reachable. What you write is kept and sent when it is back.")}</span>
      <button type="button" class="act plain" onClick=${onRetry}>${_("Try now")}</button></div>`;
  }
  if (state.error) return html`
    <div class="banner" role="alert"><span>${state.error}</span>
      <button type="button" class="act plain" onClick=${() => dispatch({ type: "dismiss-error" })}>${_("Close")}</button></div>`;
  return null;
}

function Welcome({ notice, onPick }) {
  const pick = (words) => {
    onPick(words);
    document.querySelector("textarea").focus();
  };
  return html`
    <div class="welcome">
      <${Logo} size=${56} />
      <h1>${_("What shall we do?")}</h1>
      <p>${_("Write what you want done. Before anything risky runs, a card asks you.")}</p>
      ${notice && html`<p class="notice">${notice}</p>`}
      <div class="chips">
        ${["/run ls -la", "/help", "/tools"].map((words) => html`
          <button type="button" class="chip" onClick=${() => pick(words)}>${words}</button>`)}
      </div>
    </div>`;
}

function sendSay(connection, message) {
  connection.send({ type: "say", client_id: message.id, text: message.text });
}

// crypto.randomUUID is missing on pages served without https from another machine.
function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

render(html`<${App} />`, document.getElementById("app"));
