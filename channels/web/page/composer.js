// Where one writes: grows with the text, completes commands, keeps a draft, and stops the bot.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.module.js";
import { icons } from "./icons.js";
import { _, fill } from "./language.js";

const MOST_SUGGESTIONS = 8;
const KEYS = { enter: html`<kbd>Enter</kbd>`, shift: html`<kbd>Shift</kbd>` };

export function Composer({ commands, notice, maxCharacters, working, text, setText, onSay, onStop, lastSaid }) {
  const field = useRef(null);
  const [chosen, setChosen] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const suggestions = isClosed ? [] : matching(commands, text);
  const command = commandOf(commands, text);
  const tooLong = text.length > maxCharacters;

  useLayoutEffect(() => {
    const node = field.current;
    node.style.height = "auto";
    node.style.height = `${node.scrollHeight}px`;
  }, [text]);
  useEffect(() => setChosen(0), [text]);
  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) field.current.focus(); // a phone would open its keyboard
  }, []);

  const change = (value) => {
    setClosed(false);
    setText(value);
  };
  const complete = (name) => {
    change(`/${name} `);
    field.current.focus();
  };
  const say = () => {
    if (text.trim() && !tooLong) onSay(text.replace(/\s+$/, ""));
    field.current.focus();
  };
  const onKeyDown = (event) => {
    if (event.isComposing) return; // an input method is choosing characters
    const isOpen = suggestions.length > 0;
    const isWhole = suggestions.some(({ name }) => `/${name}` === text);
    if (isOpen && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setChosen((chosen + step + suggestions.length) % suggestions.length);
    } else if (isOpen && (event.key === "Tab" || (event.key === "Enter" && !isWhole)) && !event.shiftKey) {
      event.preventDefault();
      complete(suggestions[chosen].name);
    } else if (isOpen && event.key === "Escape") {
      setClosed(true);
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      say();
    } else if (event.key === "ArrowUp" && text === "" && lastSaid) {
      event.preventDefault();
      change(lastSaid);
    }
  };
  return html`
    <footer class="composer">
      <div class="column">
        ${suggestions.length > 0 && html`
          <ul class="suggestions" id="suggestions" role="listbox" aria-label=${_("Commands")}>
            ${suggestions.map((one, index) => html`
              <li key=${one.name} id=${`suggestion-${index}`} role="option" aria-selected=${index === chosen ? "true" : "false"}
                onMouseDown=${(event) => { event.preventDefault(); complete(one.name); }}>
                <b>/${one.name}</b> ${one.arguments && html`<code>${one.arguments}</code>`}<span>${one.description}</span></li>`)}
          </ul>`}
        <form class="write" onSubmit=${(event) => { event.preventDefault(); say(); }}>
          <textarea ref=${field} aria-label=${_("Message")} rows="1" placeholder=${_("Write, or / for commands")}
            autocomplete="off" enterkeyhint="send" value=${text} aria-autocomplete="list"
            aria-controls=${suggestions.length ? "suggestions" : undefined}
            aria-activedescendant=${suggestions.length ? `suggestion-${chosen}` : undefined}
            onInput=${(event) => change(event.currentTarget.value)} onKeyDown=${onKeyDown}></textarea>
          ${working && html`<button type="button" class="stop" onClick=${onStop}>${icons.stop}<span>${_("Stop")}</span></button>`}
          <button type="submit" class="send" aria-label=${_("Send")} title=${_("Send (Enter)")} disabled=${!text.trim() || tooLong}>${icons.send}</button>
        </form>
        <p class=${`hint ${tooLong ? "failed" : ""}`} role=${tooLong ? "alert" : undefined}>
          ${tooLong
            ? _("Too long by {count} characters.", { count: text.length - maxCharacters })
            : command
              ? html`<code>/${command.name} ${command.arguments}</code> ${command.description}`
              : notice || html`<span class="keys">${fill("{enter} sends, {shift} + {enter} starts a new line", KEYS)}</span>`}</p>
      </div>
    </footer>`;
}

function matching(commands, text) {
  if (!/^\/\S*$/.test(text)) return [];
  return commands.filter(({ name }) => name.startsWith(text.slice(1).toLowerCase())).slice(0, MOST_SUGGESTIONS);
}

function commandOf(commands, text) {
  const name = /^\/(\S+)\s/.exec(text)?.[1];
  return name && commands.find((one) => one.name === name);
}
