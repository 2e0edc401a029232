// What must survive a reload of this tab: messages not yet acknowledged, and the text being written.

const OUTGOING = "echo-bot-outgoing";
const TEXT = "echo-bot-text";
const NOTIFY = "echo-bot-notify";

export function readOutgoing() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(OUTGOING) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one?.id === "string" && typeof one?.text === "string") : [];
  } catch {
    return [];
  }
}

export function writeOutgoing(messages) {
  write(OUTGOING, messages.length ? JSON.stringify(messages) : null);
}

export function readText() {
  try {
    return sessionStorage.getItem(TEXT) ?? "";
  } catch {
    return "";
  }
}

export function writeText(text) {
  write(TEXT, text || null);
}

// Beyond this tab: whether its browser shall show notifications.
export function readNotify() {
  try {
    return localStorage.getItem(NOTIFY) === "on";
  } catch {
    return false;
  }
}

export function writeNotify(isOn) {
  write(NOTIFY, isOn ? "on" : null, () => localStorage);
}

function write(key, value, storage = () => sessionStorage) {
  try {
    if (value === null) storage().removeItem(key);
    else storage().setItem(key, value);
  } catch {
    // storage may be forbidden or full; the tab still works, it only forgets on reload
  }
}
