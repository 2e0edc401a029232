"""The gateway's own small pages: the log-in button, a spent link, a visitor without a log-in."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from string import Template

from echo_bot.text.language import _, chosen

_STYLE = """
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--text:#1b1f27;--soft:#5b6472;--line:#e3e6eb;
--accent:#4353ff;--accent-2:#2f3de0;--code:#eef0f4;--shadow:0 1px 2px #0f172a0d,0 12px 40px #0f172a14}
@media(prefers-color-scheme:dark){:root{--bg:#0f1115;--card:#171a21;--text:#e8eaf0;--soft:#9aa3b2;
--line:#272c36;--accent:#6472ff;--accent-2:#7c88ff;--code:#222732;--shadow:0 12px 40px #0008}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:1.25rem;
background:var(--bg);color:var(--text);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:27rem;background:var(--card);border:1px solid var(--line);border-radius:18px;
box-shadow:var(--shadow);padding:2.25rem 2rem;text-align:center}
svg{display:block;margin:0 auto 1.1rem}
h1,p{text-wrap:balance}h1{margin:0 0 .5rem;font-size:1.4rem;line-height:1.25;letter-spacing:-.015em}
p{margin:.55rem 0;color:var(--soft)}
code{background:var(--code);color:var(--text);border-radius:6px;padding:.12em .4em;white-space:nowrap;
font:.88em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
form{margin:1.5rem 0 .25rem}
button,.button{display:inline-block;width:100%;border:0;border-radius:12px;padding:.8rem 1.4rem;
cursor:pointer;background:var(--accent);color:#fff;font:inherit;font-weight:600;text-decoration:none}
button:hover,.button:hover{background:var(--accent-2)}
.quiet{margin-top:1.25rem;font-size:.9rem}.quiet a{color:inherit}
button:focus-visible,a:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
"""

_LOGO = (
    '<svg width="52" height="52" viewBox="0 0 32 32" aria-hidden="true">'
    '<rect width="32" height="32" rx="9" fill="#4353ff"/>'
    '<g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round">'
    '<path d="M9 13.5v5"/><path d="M14 10v12"/><path d="M19 12.5v7"/><path d="M24 15v2"/></g></svg>'
)

_LOGIN, _RUN = "<code>echo-bot login</code>", "<code>echo-bot run</code>"

_LAYOUT = Template(
    '<!doctype html><html lang="$language"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    '<meta name="robots" content="noindex">'
    "<title>$title · Echo Bot</title><style>$style</style></head>"
    "<body><main>$logo<h1>$title</h1>$body</main></body></html>"
)


def _hash_source(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


_CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; style-src {_hash_source(_STYLE)}; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class Page:
    """A complete HTML page of constant text, and the headers it needs."""

    html: str
    headers: dict[str, str] = field(
        default_factory=lambda: {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
        }
    )


def _page(title: str, body: str) -> Page:
    html_language = "zh-Hans" if chosen() == "zh" else "en"
    page = _LAYOUT.substitute(language=html_language, title=title, style=_STYLE, logo=_LOGO, body=body)
    return Page(page)


# The form has no action: it posts to the link itself, so that the secret is written nowhere in the page.
def continue_page() -> Page:
    told = _("This link logs in this browser, once. You stay logged in here for 30 days.")
    go_on = _("Continue")
    quiet = _("Not your own device? Close this page; the link stays unused.")
    return _page(
        _("Welcome to Echo Bot"),
        f"<p>{told}</p>"
        f'<form method="post"><button type="submit">{go_on}</button></form>'
        f'<p class="quiet">{quiet}</p>',
    )


def spent_page() -> Page:
    told = _("A log-in link works once and for 10 minutes. This one was used, has expired, or is incomplete.")
    again = _("Run {command} on the bot's machine: it prints a new link.").format(command=_LOGIN)
    quiet = _("Logged in already? {link}").format(link=_link(_("Open the chat")))
    return _page(_("This link no longer works"), f'<p>{told}</p><p>{again}</p><p class="quiet">{quiet}</p>')


def stranger_page() -> Page:
    told = _("Open the log-in link that {command} printed in the terminal.").format(command=_RUN)
    again = _("It works once and for 10 minutes. Too late? {command} prints a new one.").format(
        command=_LOGIN
    )
    quiet = _("Logged in on this browser before? {link}").format(link=_link(_("Try again")))
    return _page(_("You are not logged in"), f'<p>{told}</p><p>{again}</p><p class="quiet">{quiet}</p>')


def logged_out_page() -> Page:
    told = _("This browser no longer has access, and its open tabs were disconnected.")
    again = _("To come back, run {command} on the bot's machine and open the link it prints.")
    return _page(_("You are logged out"), f"<p>{told}</p><p>{again.format(command=_LOGIN)}</p>")


def _link(words: str) -> str:
    return f'<a href="/">{words}</a>'
