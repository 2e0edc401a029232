// An approval card: structured blocks as text nodes, a countdown, buttons named as the server named them.

import { html, useState, useEffect, useRef } from "./vendor/htm-preact.module.js";
import { diffLines } from "./diff.js";
import { icons } from "./icons.js";
import { _ } from "./language.js";
import { copyText } from "./markdown.js";
import { useNow } from "./clock.js";

const STATE_WORDS = {
  open: _("Waiting for you"), approved: _("Approved"), denied: _("Denied"), expired: _("Expired"), closed: _("Closed"),
};
const FOLD_AFTER_LINES = 12;

// `actions`: press(card, button, text), ask(card, button) for a button that wants words, unask(card).
export function Card({ card, busy, asked, reply, connected, skew, actions }) {
  const isOpen = card.state === "open";
  const risk = riskOf(card);
  return html`
    <section class=${`card is-${card.state} ${risk ? `risk-${risk}` : ""}`} aria-label=${card.title}
      id=${`card-${card.id}`} tabindex="-1">
      <header class="card-head">
        <span class="card-icon">${icons[card.state] ?? icons.closed}</span>
        <h3>${card.title}</h3>
        <span class="card-meta">
          ${isOpen
            ? card.deadline && html`<${Countdown} deadline=${card.deadline} skew=${skew} />`
            : html`<span class="state-word">${STATE_WORDS[card.state] ?? card.state}</span>`}
          ${card.short_id && html`<code class="short-id" title=${_("What /approve and /deny take")}>${card.short_id}</code>`}
        </span>
      </header>
      <div class="card-body">
        <${Blocks} blocks=${card.blocks} isOpen=${isOpen} />
      </div>
      ${card.buttons.length > 0 && html`
        <${Buttons} card=${card} busy=${busy} asked=${asked} connected=${connected} actions=${actions} />`}
      ${reply && (isOpen || !reply.ok) && html`<p class=${`press-reply ${reply.ok ? "ok" : "refused"}`} role="status">${reply.text}</p>`}
    </section>`;
}

// An open card shows everything. A decided one keeps what was asked in view and the rest a click away.
function Blocks({ blocks, isOpen }) {
  const [all, setAll] = useState(false);
  const firstCode = blocks.findIndex((block) => block.kind === "code");
  const isKept = (block, index) => isOpen || all || firstCode < 0 || index === firstCode || block.strong;
  const kept = blocks.filter(isKept);
  return html`
    ${kept.map((block, index) => html`<${Block} key=${index} block=${block} folded=${!isOpen} />`)}
    ${!isOpen && (all || kept.length < blocks.length) && html`
      <button type="button" class="details-toggle" aria-expanded=${String(all)} onClick=${() => setAll(!all)}>
        ${all ? _("Less") : _("Details")}</button>`}`;
}

function Block({ block, folded }) {
  switch (block.kind) {
    case "paragraph":
      return html`<p class=${block.strong ? "strong" : ""}>${block.text}</p>`;
    case "fields":
      return html`<dl class="fields">${block.rows.map(([name, value]) => html`
        <div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
    case "code":
      return html`<${Code} block=${block} folded=${folded} />`;
    default:
      return html`<pre>${JSON.stringify(block)}</pre>`; // a newer server: shown raw rather than hidden
  }
}

function Code({ block, folded }) {
  const lines = block.text.split("\n").length;
  const [open, setOpen] = useState(false);
  const hidden = folded && lines > FOLD_AFTER_LINES && !open;
  return html`
    <div class="code-box">
      <div class="code-bar">
        <span>${block.label || block.language || _("text")}${lines > FOLD_AFTER_LINES && _(" · {count} lines", { count: lines })}</span>
        <button type="button" class="copy" onClick=${(e) => copyText(block.text, e.currentTarget)}>${_("Copy")}</button>
      </div>
      ${hidden
        ? html`<button type="button" class="unfold" onClick=${() => setOpen(true)}>${_("Show {count} lines", { count: lines })}</button>`
        : html`<pre tabindex="0" dir="ltr"><code>${block.language === "diff"
            ? diffLines(block.text.replace(/\n$/, "")).map(({ kind, text }) => html`<span class=${`diff-line ${kind}`}>${text || " "}</span>`)
            : block.text}</code></pre>`}
    </div>`;
}

// Two groups that wrap as wholes: what lets the call pass, and from the first red button on what stops it.
function grouped(buttons) {
  const firstDanger = buttons.findIndex((button) => button.style === "danger");
  const cut = firstDanger < 0 ? buttons.length : firstDanger;
  return [buttons.slice(0, cut), buttons.slice(cut)].filter((group) => group.length > 0);
}

function Buttons({ card, busy, asked, connected, actions }) {
  const asking = asked && card.buttons.find((button) => button.token === asked.token);
  const drawn = (button) => html`
    <button key=${button.token} type="button" disabled=${!connected || !!busy}
      class=${`act ${button.style} ${busy?.token === button.token ? "is-busy" : ""}`}
      aria-expanded=${button.prompt ? String(asking === button) : undefined}
      onClick=${() => {
        if (!button.prompt) actions.press(card, button, "");
        else if (asking === button) actions.unask(card);
        else actions.ask(card, button);
      }}>${button.label}</button>`;
  return html`
    <div class="card-actions">
      <div class="card-buttons" role="group" aria-label=${_("Decide")}>
        ${grouped(card.buttons).map((group, index) => html`<span key=${index}>${group.map(drawn)}</span>`)}
      </div>
      ${asking && html`<${Prompt} key=${asked.token} asked=${asked} button=${asking} busy=${!!busy} connected=${connected}
        onSend=${(text) => actions.press(card, asking, text)} onCancel=${() => actions.unask(card)} />`}
      ${!connected && html`<p class="press-reply">${_("Not connected: the buttons work again once it is.")}</p>`}
    </div>`;
}

// An edit begins with the whole call and keeps every blank of it; a reason is a line of words.
function Prompt({ asked, button, busy, connected, onSend, onCancel }) {
  const isEdit = asked.initial !== "";
  const [text, setText] = useState(asked.initial);
  const field = useRef(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const isReady = connected && !busy && text.trim() !== "" && text !== asked.initial;
  const send = (event) => {
    event.preventDefault();
    if (isReady) onSend(isEdit ? text : text.trim());
  };
  const onKeyDown = (event) => {
    if (event.key === "Escape" && text === asked.initial) onCancel();
    if (isEdit && event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  };
  const onInput = (event) => setText(event.currentTarget.value);
  const rows = Math.min(18, Math.max(2, text.split("\n").length + 1));
  return html`
    <form class=${`prompt ${isEdit ? "is-edit" : ""}`} onSubmit=${send} onKeyDown=${onKeyDown}>
      <label><span class="question">${asked.question}</span>
        ${isEdit
          ? html`<textarea ref=${field} rows=${rows} value=${text} spellcheck="false" autocapitalize="off"
              autocomplete="off" dir="ltr" aria-label=${asked.title} onInput=${onInput}></textarea>`
          : html`<input ref=${field} type="text" value=${text} maxlength="2000" autocomplete="off" onInput=${onInput} />`}
      </label>
      <div class="prompt-buttons">
        <button type="submit" class=${`act ${isEdit ? "primary" : button.style}`} disabled=${!isReady}>
          ${isEdit ? _("Send changes") : _("Confirm")}</button>
        <button type="button" class="act plain" onClick=${onCancel}>${_("Cancel")}</button>
      </div>
    </form>`;
}

export function Countdown({ deadline, skew }) {
  const now = useNow(1000);
  if (!deadline) return html`<span class="countdown">${_("open")}</span>`;
  const left = Math.round((Date.parse(deadline) - (now + skew)) / 1000);
  if (left <= 0) return html`<span class="countdown urgent">${_("time is up")}</span>`;
  const words = left >= 3600
    ? _("{hours} h {minutes} min left", { hours: Math.floor(left / 3600), minutes: Math.floor((left % 3600) / 60) })
    : _("{time} left", { time: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` });
  return html`<span class=${`countdown ${left <= 30 ? "urgent" : ""}`} role="timer">${words}</span>`;
}

const RISK_WORDS = [
  [/dangerous$/, "dangerous"], [/runs code$/, "exec"], [/changes data$/, "write"], [/reads only$/, "read_only"],
];

// The colour only repeats what the title says in words; a card without the level is coloured by them.
export function riskOf(card) {
  return card.risk || (RISK_WORDS.find(([words]) => words.test(card.title))?.[1] ?? "");
}
