// The bot's Markdown as DOM nodes: parsed by marked, sanitised by DOMPurify, links made harmless.

import { Marked } from "./vendor/marked.esm.js";
import { diffLines } from "./diff.js";
import { _ } from "./language.js";

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (text) => text.replace(/[&<>"']/g, (char) => ESCAPES[char]);

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // HTML in a model's answer is shown as the text it is.
    html: ({ text }) => escape(text),
    // A picture from elsewhere would tell its server that it was looked at: a link instead.
    image: ({ href, text }) => `<a href="${escape(href)}">${escape(text || "image")}</a>`,
  },
});

const ALLOWED = {
  ALLOWED_TAGS: [
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "input", "li",
    "ol", "p", "pre", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["href", "title", "align", "start", "class", "type", "checked", "disabled"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

export function renderMarkdown(text) {
  const fragment = window.DOMPurify.sanitize(marked.parse(text), ALLOWED);
  for (const link of fragment.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    if (!link.href) {
      link.replaceWith(...link.childNodes); // its address was no web address: only its words are left
      continue;
    }
    if (!link.title) link.title = link.href;
    // Words that name one address while the link leads to another: the real one is written behind them.
    if (namesAnotherPlace(link)) link.after(document.createTextNode(` (${link.host || link.pathname})`));
  }
  for (const box of fragment.querySelectorAll("input")) {
    box.type = "checkbox";
    box.disabled = true;
  }
  for (const table of fragment.querySelectorAll("table")) wrap(table, "table-scroll");
  for (const pre of fragment.querySelectorAll("pre")) finishCode(pre);
  return fragment;
}

const ADDRESS = /(?:https?:\/\/)?(?:[^\s/?#@]*@)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?::\d+)?/giu;

function namesAnotherPlace(link) {
  const named = [...link.textContent.matchAll(ADDRESS)].map(([, host]) => hostOf(`https://${host}`));
  return named.some((host) => host !== link.hostname && !link.hostname.endsWith(`.${host}`));
}

const hostOf = (address) => {
  try {
    return new URL(address).hostname;
  } catch {
    return address;
  }
};

function finishCode(pre) {
  const code = pre.querySelector("code") ?? pre;
  const text = code.textContent.replace(/\n$/, "");
  const language = /language-([\w+#-]+)/.exec(code.className)?.[1] ?? "";
  if (language === "diff") code.replaceChildren(...diffLines(text).map(diffNode));
  pre.tabIndex = 0;
  const box = wrap(pre, "code-box");
  const bar = document.createElement("div");
  bar.className = "code-bar";
  const name = document.createElement("span");
  name.textContent = language;
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "copy";
  copy.textContent = _("Copy");
  copy.onclick = () => copyText(text, copy);
  bar.append(name, copy);
  box.prepend(bar);
}

function diffNode({ kind, text }) {
  const line = document.createElement("span");
  line.className = `diff-line ${kind}`;
  line.textContent = text || " ";
  return line;
}

export async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = _("Copied");
  } catch {
    button.textContent = _("Not allowed"); // browsers give the clipboard to https and this machine only
  }
  setTimeout(() => { button.textContent = _("Copy"); }, 1500);
}

function wrap(node, className) {
  const box = document.createElement("div");
  box.className = className;
  node.replaceWith(box);
  box.append(node);
  return box;
}
