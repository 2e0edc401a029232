// What calls a person back to the page: a count on it, and a notification for a card that opens meanwhile.

import { html, useEffect, useRef, useState } from "./vendor/htm-preact.module.js";
import { readNotify, writeNotify } from "./keep.js";
import { _ } from "./language.js";

export function showBadge(waiting) {
  document.title = waiting ? `(${waiting}) Echo Bot` : "Echo Bot";
  // Where the page is installed as an application, its icon carries the count too.
  const set = waiting ? navigator.setAppBadge?.(waiting) : navigator.clearAppBadge?.();
  set?.catch(() => {});
}

const isAllowed = () => "Notification" in window && Notification.permission === "granted";

// Cards that were there at the first greeting are no news. Nothing of the call itself is shown outside the page.
// A notification goes when its card does, wherever that was decided.
export function useCardNotices(state, onOpen) {
  const known = useRef(null);
  const standing = useRef(new Map());
  useEffect(() => {
    if (!state.greeted) return;
    for (const [id, shown] of standing.current) {
      if (state.pending.includes(id)) continue;
      shown.close();
      standing.current.delete(id);
    }
    const fresh = known.current ? state.pending.filter((id) => !known.current.has(id)) : [];
    known.current = new Set([...(known.current ?? []), ...state.pending]);
    if (!document.hidden || !readNotify() || !isAllowed()) return;
    for (const id of fresh) {
      const shown = notify(state.cards[id], onOpen);
      if (shown) standing.current.set(id, shown);
    }
  }, [state.greeted, state.pending]);
}

function notify(card, onOpen) {
  const body = _("Echo Bot waits for a decision ({id}).", { id: card.short_id });
  let shown;
  try {
    shown = new Notification(card.title, { body, tag: card.id });
  } catch {
    // Browsers on phones have the name and the permission, and refuse a page's own notification.
    writeNotify(false);
    return null;
  }
  shown.onclick = () => {
    window.focus();
    shown.close();
    onOpen(card.id);
  };
  return shown;
}

// The browser asks for permission only after this click.
export function NotifySwitch() {
  const [isOn, setIsOn] = useState(readNotify() && isAllowed());
  const [refused, setRefused] = useState(false);
  if (!("Notification" in window)) return null;
  const change = async () => {
    const wanted = !isOn;
    const granted = !wanted || (await Notification.requestPermission()) === "granted";
    setRefused(!granted);
    setIsOn(wanted && granted);
    writeNotify(wanted && granted);
  };
  return html`
    <div class="notify-switch">
      <span>${refused
        ? _("Your browser does not allow notifications for this page. Its settings can change that.")
        : _("A notification when a card opens while you are elsewhere.")}</span>
      <button type="button" class="act plain" aria-pressed=${String(isOn)} onClick=${change}>
        ${isOn ? _("Turn off") : _("Turn on")}</button>
    </div>`;
}
