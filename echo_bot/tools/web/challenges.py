"""Pages that stand in the way of the page: bot checks, captchas, consent walls, pages that only scripts fill.

A mark of a check in a page that has plenty to read, or was answered with 200, is only a part of that page: a
form with a captcha below an article is not a captcha page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

FEW_CHARS = 700
"""A page with less to read than this may be nothing but a challenge."""

NEXT_TO_NONE_CHARS = 200
_BLOCKING = frozenset({202, 401, 403, 405, 406, 429, 503})


@dataclass(frozen=True, slots=True)
class Seen:
    """A page as it came: `headers` have lower-case names, `text` is what a person could read of it."""

    url: str
    status: int
    headers: Mapping[str, str]
    html: str
    title: str
    text: str

    @property
    def is_bare(self) -> bool:
        return len(self.text) < FEW_CHARS

    @property
    def may_be_challenge(self) -> bool:
        return self.is_bare or self.status in _BLOCKING


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_CHECKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a Cloudflare challenge",
        _any(
            r"_cf_chl_opt",
            r"cf-browser-verification",
            r"<title>\s*Just a moment\.\.\.",
            r"<title>\s*Attention Required! \| Cloudflare",
            r"Checking your browser before accessing",
            r"cf-error-details",
        ),
    ),
    (
        "a captcha of DataDome",
        _any(r"captcha-delivery\.com", r"var dd\s*=\s*\{[^}]*'cid'"),
    ),
    ("a bot check of PerimeterX", _any(r"px-captcha", r"_pxAppId", r"Press (?:&amp;|&|and) Hold to confirm")),
    ("a bot check of Imperva", _any(r"_Incapsula_Resource", r"Request unsuccessful\. Incapsula incident")),
    ("a bot check of AWS", _any(r"awsWafCookieDomainList", r"\bgokuProps\b", r"AwsWafIntegration")),
    ("a refusal by Akamai", _any(r"errors\.edgesuite\.net", r"akamai-privacy|sec-if-cpt-container")),
    ("a bot check of Anubis", _any(r"anubis_challenge", r"Making sure you(?:'|&#39;|&#x27;|’)re not a bot")),
    ("a traffic check of Google", _any(r"Our systems have detected unusual traffic", r"/sorry/index\?")),
    (
        "a captcha",
        _any(
            r"class=[\"'][^\"']*\b(?:g-recaptcha|h-captcha|cf-turnstile|frc-captcha)\b",
            r"hcaptcha\.com/1/api\.js",
            r"challenges\.cloudflare\.com/turnstile",
            r"geo\.captcha",
            r"solve (?:the|this) captcha",
            r"verify (?:that )?you are (?:a )?human",
            r"are you a robot\?",
        ),
    ),
)
_CONSENT_HOSTS = re.compile(
    r"^(?:consent\.(?:google|youtube|yahoo)\.|guce\.|myprivacy\.|consent\.)", re.IGNORECASE
)
_CONSENT = _any(
    r"before you continue to (?:google|youtube)",
    r"we value your privacy",
    r"(?:accept|reject|manage) (?:all )?(?:the )?cookies",
    r"consent to (?:the use of )?cookies",
    r"alle cookies (?:akzeptieren|ablehnen)",
    r"accepter (?:tous )?les cookies",
    r"接受(?:所有|全部)?\s*cookie",
)
_NEEDS_SCRIPTS = _any(
    r"(?:enable|activate|turn on|requires?|needs?|without) (?:\w+ ){0,3}javascript",
    r"javascript (?:\w+ ){0,3}(?:required|disabled|enabled)",
    r"(?:启用|啟用|开启|開啟)\s*javascript",
)
_MOUNT = re.compile(
    r"<(?P<tag>div|main|section|app-root)\b[^>]*\bid=[\"']?(?:root|app|__next|__nuxt|___gatsby|svelte|mount)\b[^>]*>"
    r"\s*(?:<(?:div|span|img|svg)\b[^>]*>\s*(?:</(?:div|span|svg)>)?\s*)*</(?P=tag)>|<app-root\b",
    re.IGNORECASE,
)


def challenge_in(page: Seen) -> str:
    """What stands in the way, as a noun phrase; "" when the page seems to be the page."""
    if page.headers.get("cf-mitigated", "").lower() == "challenge":
        return "a Cloudflare challenge"
    if page.headers.get("x-amzn-waf-action", "").lower() in ("challenge", "captcha"):
        return "a bot check of AWS"
    if not page.may_be_challenge:
        return ""
    for name, marks in _CHECKS:
        if marks.search(page.html):
            return name
    if page.is_bare and (
        _CONSENT_HOSTS.match(urlsplit(page.url).hostname or "") or _CONSENT.search(page.text)
    ):
        return "a consent page"
    return _empty_shell(page)


def _empty_shell(page: Seen) -> str:
    """A page whose scripts would fill it, or that says so itself."""
    if len(page.text) >= NEXT_TO_NONE_CHARS or "<script" not in page.html.lower():
        return ""
    if _NEEDS_SCRIPTS.search(page.text) or _NEEDS_SCRIPTS.search(page.html) or _MOUNT.search(page.html):
        return "a page that only scripts fill"
    return ""
