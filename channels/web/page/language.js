// What the page says, in the language of the bot: the server sends the sentences, and English is their key.

import { language, words } from "./words.js";

document.documentElement.lang = language === "zh" ? "zh-Hans" : language;

// For dates: the browser's own where the page is in English, as it always was.
export const locale = language === "en" ? [] : document.documentElement.lang;

export function _(message, values = {}) {
  return fill(message, values).join("");
}

// The sentence in pieces, so that a value may be an element.
export function fill(message, values) {
  const said = words[message] ?? message;
  return said.split(/\{(\w+)\}/).map((piece, index) => (index % 2 ? values[piece] : piece));
}
