// The drawer with every open card of this viewer: those of this chat by a link, the others in full.

import { html, useEffect, useRef } from "./vendor/htm-preact.module.js";
import { Card, Countdown, riskOf } from "./card.js";
import { icons } from "./icons.js";
import { _ } from "./language.js";
import { NotifySwitch } from "./notify.js";
import { isForeign } from "./state.js";

export function Pending({ state, actions, onShow, onClose }) {
  const panel = useRef(null);
  useEffect(() => panel.current.focus(), []);
  const cards = state.pending.map((id) => state.cards[id]).filter(Boolean);
  return html`
    <div class="scrim" onClick=${onClose}></div>
    <aside class="drawer" role="dialog" aria-label=${_("Open cards")} ref=${panel} tabindex="-1"
      onKeyDown=${(event) => event.key === "Escape" && onClose()}>
      <header>
        <h2>${_("Waiting for you")}</h2>
        <button type="button" class="icon-button" aria-label=${_("Close")} onClick=${onClose}>${icons.close}</button>
      </header>
      ${cards.length === 0 && html`<p class="nothing">${_("Nothing waits for a decision.")}</p>`}
      ${cards.map((card) => isForeign(state, card.id)
        ? html`<${Card} key=${card.id} card=${card} busy=${state.busy[card.id]} asked=${state.asked[card.id]}
            reply=${state.replies[card.id]} connected=${state.phase === "open"} skew=${state.skew} actions=${actions} />`
        : html`<div key=${card.id} class=${`pending-row risk-${riskOf(card)}`}>
            <span><b>${card.title}</b><small><${Countdown} deadline=${card.deadline} skew=${state.skew} />
              ${card.short_id && html` · <code>${card.short_id}</code>`}</small></span>
            <button type="button" class="act plain" onClick=${() => onShow(card.id)}>${_("Show in chat")}</button></div>`)}
      <${NotifySwitch} />
    </aside>`;
}
