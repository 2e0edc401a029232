// The chat itself: bubbles, cards, files, days; it follows the newest line unless one scrolled up to read.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.module.js";
import { Card } from "./card.js";
import { icons, Logo } from "./icons.js";
import { _, locale } from "./language.js";
import { renderMarkdown } from "./markdown.js";

const NEAR_BOTTOM_PX = 120;

export function Messages({ state, working, actions, onTryAgain, onDiscard, children }) {
  const box = useRef(null);
  const content = useRef(null);
  const follows = useRef(true);
  const measured = useRef("");
  const [away, setAway] = useState(false);
  const toBottom = (behavior = "auto") => box.current.scrollTo({ top: box.current.scrollHeight, behavior });

  useLayoutEffect(() => {
    const keep = () => {
      measured.current = sizeOf(box.current);
      if (follows.current) toBottom();
    };
    const observer = new ResizeObserver(keep);
    observer.observe(content.current);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  // What one says oneself is always brought into view.
  const said = state.outgoing.length;
  useEffect(() => {
    if (said) {
      follows.current = true;
      toBottom();
    }
  }, [said]);
  const onScroll = () => {
    // A chat that changed its size scrolls by itself: only a person's scrolling says where they want to be.
    if (sizeOf(box.current) !== measured.current) return;
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    follows.current = scrollHeight - scrollTop - clientHeight < NEAR_BOTTOM_PX;
    setAway(!follows.current);
  };
  return html`
    <main class="messages" ref=${box} onScroll=${onScroll} tabindex="-1">
      <div class="column" ref=${content}>
        ${children}
        <div role="log" aria-label=${_("Chat")} aria-live="polite" aria-relevant="additions text">
          ${rows(state, { actions, onTryAgain, onDiscard })}
        </div>
        ${working && !state.entries.some((entry) => entry.draft) && html`<div class="row bot working" role="status">
          <span class="avatar"><${Logo} size=${28} /></span>
          <span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>
          <span class="hidden">${_("Echo Bot is working")}</span></div>`}
      </div>
      ${away && html`<button type="button" class="to-bottom" onClick=${() => toBottom("smooth")}>
        ${icons.down}<span class="hidden">${_("Newest messages")}</span></button>`}
    </main>`;
}

const sizeOf = (node) => `${node.scrollHeight}/${node.clientHeight}`;

function rows(state, more) {
  const all = [...state.entries, ...state.outgoing.map((message) => ({ ...message, role: "user", isOutgoing: true }))];
  let day = "";
  let speaker = "";
  return all.flatMap((entry, index) => {
    const out = [];
    const thisDay = dayWords(entry.at);
    if (thisDay !== day) {
      day = thisDay;
      speaker = "";
      out.push(html`<div class="day" key=${`day-${entry.id}`}><span>${day}</span></div>`);
    }
    const side = entry.role === "user" ? "user" : "bot";
    const isFirst = side !== speaker;
    speaker = side;
    const next = all[index + 1];
    const isLast = !next || (next.role === "user") !== (side === "user") || timeWords(next.at) !== timeWords(entry.at);
    out.push(html`<${Row} key=${entry.id} entry=${entry} side=${side} isFirst=${isFirst} isLast=${isLast}
      state=${state} ...${more} />`);
    return out;
  });
}

function Row({ entry, side, isFirst, isLast, state, actions, onTryAgain, onDiscard }) {
  const card = entry.cardId && state.cards[entry.cardId];
  return html`
    <article class=${`row ${side} ${isFirst ? "is-first" : ""} ${card ? "has-card" : ""}`} aria-busy=${entry.draft ? "true" : undefined}>
      ${side === "bot" && html`<span class="avatar">${isFirst && html`<${Logo} size=${28} />`}</span>`}
      <div class="said">
        <span class="hidden">${side === "user" ? _("You:") : _("Echo Bot:")}</span>
        ${card
          ? html`<${Card} card=${card} busy=${state.busy[card.id]} asked=${state.asked[card.id]}
              reply=${state.replies[card.id]} connected=${state.phase === "open"} skew=${state.skew} actions=${actions} />`
          : html`<${Bubble} entry=${entry} side=${side} />`}
        <${Footer} entry=${entry} isLast=${isLast} onTryAgain=${onTryAgain} onDiscard=${onDiscard} />
      </div>
    </article>`;
}

function Bubble({ entry, side }) {
  if (entry.file) return html`<${FileBox} file=${entry.file} />`;
  if (side === "user") return html`<div class="bubble">${entry.text}</div>`;
  // A draft comes unformatted with a mark at its end; it is shown as the answer it becomes.
  if (entry.draft) return html`<${Markdown} text=${entry.text.replace(/ …$/, "")} isDraft />`;
  if (entry.markdown) return html`<${Markdown} text=${entry.text} />`;
  return html`<div class="bubble literal">${entry.text}</div>`;
}

function Markdown({ text, isDraft }) {
  const box = useRef(null);
  useLayoutEffect(() => box.current.replaceChildren(renderMarkdown(text)), [text]);
  return html`<div class=${`bubble markdown ${isDraft ? "is-draft" : ""}`} ref=${box}></div>`;
}

function FileBox({ file }) {
  return html`
    <div class="bubble file">
      ${file.inline && html`<a href=${file.url} target="_blank" rel="noopener"><img src=${file.url} alt=${file.name} /></a>`}
      <a class="file-link" href=${file.url} download=${file.name}>
        ${icons.file}<span><b>${file.name}</b><small>${sizeWords(file.size)}</small></span></a>
    </div>`;
}

function Footer({ entry, isLast, onTryAgain, onDiscard }) {
  if (entry.failed) return html`
    <div class="footer failed" role="alert">${entry.failed}
      <button type="button" class="link" onClick=${() => onTryAgain(entry)}>${_("Try again")}</button>
      <button type="button" class="link" onClick=${() => onDiscard(entry)}>${_("Discard")}</button></div>`;
  if (entry.isOutgoing) return html`<div class="footer">${_("sending…")}</div>`;
  if (!isLast) return null;
  return html`<time class="footer" datetime=${entry.at}>${timeWords(entry.at)}</time>`;
}

const timeWords = (at) => new Date(at).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });

function dayWords(at) {
  const date = new Date(at);
  const today = new Date();
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  if (date.toDateString() === today.toDateString()) return _("Today");
  if (date.toDateString() === yesterday.toDateString()) return _("Yesterday");
  return date.toLocaleDateString(locale, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
}

function sizeWords(bytes) {
  const units = [_("bytes"), "kB", "MB", "GB"];
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < 3) {
    size /= 1000;
    unit += 1;
  }
  return `${unit && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
