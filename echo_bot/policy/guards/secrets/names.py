"""Values that a telling name announces: assignments, JSON, YAML, headers, cookies, query strings, prose.

The patterns run over a copy in lower case, which is many times faster than matching both cases.
"""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from echo_bot.policy.guards.secrets.fold import Span
from echo_bot.policy.guards.secrets.hinted import Hinted, hinted
from echo_bot.policy.guards.secrets.values import has_shape, is_secret

NAMED = hinted(
    r"(?P<name>authorization|pass(?:word|wd|_?phrase|code)?|pwd|secret|token|auth|cred(?:s|entials?)?|signature|(?<=[_-])pat|(?<=[_-])sk|(?<![\w.])pw|(?<![a-z])psk|key"
    r"|密[码碼钥鑰]|口令|パスワード|비밀번호|passwort|kennwort|contraseña|senha|mot de passe|пароль|hasło|wachtwoord|lösenord)"
    r"(?:[_-]?(?:base|value|string|text|plain|current|old|new|prod|dev|test|live|\d{1,2}))?"
    r"(?:[\"'\[\]]{0,2}|\\\"|&quot;|&#3[49];)[ \t]*(?P<separator>=>|:=|[:=：→]|%3d|>(?=[^<\s=]))[ \t]*(?:[bruf]{1,2}(?=[\"'])|!!(?:str|binary)[ \t]+)?"
    r"(?:(?:bearer|basic|bot|token|digest|apikey|negotiate|ssws|geniekey|splunk|oauth|key|api-token|hmac)[ \t]++(?:token=)?)?"
    r"(?:(?P<quote>\\?[\"'`]|&quot;|&#3[49];)(?P<quoted>(?:(?!(?P=quote))[^\n])++)|(?P<bare>[^\s\"'`,;&|<>()\[\]{}]++))",
    "auth|pass|pwd|secret|token|cred|signature|_pat|-pat|_sk|-sk|pw|psk|key|密|口令|パスワード|비밀번호"
    "|kennwort|contraseña|senha|mot de passe|пароль|hasło|wachtwoord|lösenord",
)
_ALWAYS_STRONG = frozenset(
    (
        *("authorization", "password", "passwd", "passphrase", "passcode", "pwd", "secret"),
        *("密码", "密碼", "密钥", "密鑰", "口令"),
    )
)
_MAKES_STRONG = re.compile(
    r"(?:api|access|private|auth|signing|encryption|decryption|decrypt|master|shared|account|subscription"
    r"|service|license|consumer|app|bot|session|refresh|id|bearer|personal|secret|client|storage|webhook"
    r"|hmac|deploy|admin|ingestion|write|security|functions?|host|cipher|jwt|credentials?|crypto|aes|des|rsa|ecdsa|ed25519|fernet|symmetric|asymmetric"
    r"|ssl|tls|ssh|gpg|pgp|wallet|vault|root|server|integration|activation|product|registration|enrollment|provisioning|recovery|backup|seed|derivation"
    r"|aws|azure|gcp|google|gemini|maps|openai|anthropic|claude|mistral|groq|cohere|deepseek|hugging_?face|hf|replicate|stripe|paypal|square|braintree|twilio|sendgrid"
    r"|mailgun|mailchimp|postmark|resend|github|gitlab|bitbucket|slack|discord|telegram|datadog|dd|newrelic|sentry|rollbar|honeycomb|grafana|algolia|pusher|segment"
    r"|mixpanel|amplitude|firebase|supabase|cloudflare|digitalocean|heroku|netlify|vercel|linode|vultr|hetzner|npm|pypi|docker|jira|notion|airtable|tavily|serp|brave|exa|elevenlabs|deepgram)[_ -]?$|secret\.$"
)
_MARKS_A_PAGE = re.compile(
    r"(?:existing|page|next|prev|continuation|sync|cursor|max|num|total|primary|foreign|public|sort|cache|partition|row|range|lookup|idempotency)[_-]?$"
)
_MAKES_A_PASSWORD = re.compile(
    r"(?:ssh|pg|db|my|mysql|sql|smtp|imap|pop|ftp|http|proxy|admin|root|user|redis|mongo|rabbit|mq|mqtt|ldap|bind|mail|app|vpn|wifi|wlan|key|store|trust|cert|sudo|become|kafka|jenkins|nexus)$"
)
_IN_A_QUERY = re.compile(r"[?&][\w.%-]*(?:\[\])?$")
_LONGEST_QUALIFIER = 16
_LONGEST_USER = 80
_LONGEST_AGAIN = 200
"""A value that was none is read again for a name within it, unless it is longer than this."""

_PROSE = hinted(
    r"(?:(?:password|passcode|passphrase|api[ -]key|secret(?: key)?|token)(?: (?:for|of|to|on|at|in|i|we|you) (?:[\w.@'-]+ ){1,4}?|\s++)(?:is|was|provided|given|used|received|sent)(?:\s++|\s*+:\s*+)[:\"'`]*"
    r"|(?:with|using|invalid|wrong|bad) (?:the |api )?(?:password|passcode|passphrase|token|secret|key)\s++(?=[!-~]*\d)[\"'`]*)"
    r"(?P<value>[^\s\"'`,;]{6,})",
    "pass|secret|token|key",
)
_TABLE_ROW = Hinted(
    re.compile(
        r"(?<![a-z])(?:password|passwd|passphrase|secret|token|api[ _-]?key)(?:[ \t]*\t| ?\|)[ \t]*(?=[^\s|]*\d)(?=[^\s|]*[a-z])(?P<value>[^\s|\"'`,;:]{6,})(?![^\s|])"
    ),
    tuple(
        name + end
        for name in ("password", "passwd", "passphrase", "secret", "token", "key")
        for end in ("\t", " \t", "|", " |")
    ),
)
_TALK = (
    hinted(
        r"(?:wi-?fi|wlan|network|licen[sc]e|product|activation|recovery|pairing|account|admin|encryption) (?:key|code|pw)\s++(?:is|was|:|=)\s*+[\"'`]*(?P<value>[^\s\"'`,;]{6,})",
        "fi key|fi code|fi pw|wlan |network |licence |license |product key|activation |recovery |pairing |account key|account pw|admin pw|admin key|encryption key",
    ),
    hinted(
        r"(?:password|passcode|token|api key|login) for [\w.@-]{1,40}[ \t]*[:=][ \t]*[\"'`]?(?P<value>[^\s\"'`,;]{6,})",
        "password for |passcode for |token for |api key for |login for ",
    ),
    hinted(
        r"(?:credentials|creds|login|log in|logged in)(?: are| is)?(?: with| as|:)?[ \t]+[\w.@-]{1,40}[ \t]?[/:][ \t]?(?P<value>[^\s\"'`,;]{8,})",
        "credentials|creds|login|log in|logged in",
    ),
    hinted(
        r"\b(?:use|using|try|with) [\"'`]?(?P<value>[^\s\"'`,;]{8,})[\"'`]? (?:as|for) (?:the |your |my |a )?(?:\w+ )?(?:password|passcode|passphrase|token|api key|secret)",
        "pass|token|api key|secret",
    ),
    hinted(
        r"(?<![\w-])(?:secret key|api key|access key|apikey|auth token|access token)[ \t]+[\"'`]?(?=[^\s\"'`,;]*\d)(?=[^\s\"'`,;]*[a-z])(?P<value>[^\s\"'`,;]{12,})",
        "secret key|api key|access key|apikey|auth token|access token",
    ),
    _TABLE_ROW,
    hinted(r"\bpsk[ \t]+[\"'](?P<value>[^\"'\n]{8,})[\"']", "psk"),
)
_ELSEWHERE = (
    "パスワード|비밀번호|암호|пароль|Пароль|passwort|kennwort|contraseña|clave|senha|mot de passe|parola|şifre|Şifre|hasło|heslo|jelszó|salasana|wachtwoord"
    "|lösenord|adgangskode|passord|mật khẩu|kata sandi|κωδικός|סיסמה|كلمة المرور|رمز عبور|รหัสผ่าน|पासवर्ड"
)
_OF_WHAT = r"(?: (?:от|для|к|на|do|na|für|vom|zum|de|du|del|della|da|dla|van|voor|pour|para|per|till|til) \S{1,20}(?: [^\s:=：]{1,20})?)?"
_TALK_ELSEWHERE = hinted(
    rf"(?<![a-z0-9_#/.-])(?:(?:{_ELSEWHERE}|password){_OF_WHAT}[ \t]*(?:は|는|은|ist|lautet|es|é|è|est|jest|to|är|er|on|là|adalah|είναι|הוא|היא|هي|هو|คือ|है|[ \t][-–—](?=[ \t]))"
    rf"|(?:{_ELSEWHERE}){_OF_WHAT}[ \t]*[:：=])[ \t]*[\"'`]?(?P<value>(?![^\x00-\x7f])[^\s\"'`,;&|<>()\[\]{{}}\x80-\uffff]{{6,}})",
    f"{_ELSEWHERE}|password",
)
_CHINESE = hinted(
    r"(?:密[码碼钥鑰]|秘钥|令牌|口令|私钥)\s*(?:(?:就?是|[设改]?为|為)\s*[:：=]?|[:：=])\s*[\"'“「]?(?P<value>[!-~]{6,})",
    "密|秘钥|令牌|口令|私钥",
)
_NETRC = hinted(r"login[ \t]+\S+\s+password[ \t]+(?P<value>\S{4,})", "login")
_BEARER = hinted(r"bearer[ \t,]++(?P<value>[a-z0-9._~+/=-]{16,})", "bearer")
_QUERY = hinted(
    r"[?&;](?:[\w.-]*?(?:token|key|sig|signature|secret|password|passwd|pwd|auth|jwt|code|credential))="
    r"(?P<value>[^&;#\s\"'<>]{12,})",
    "token=|key=|sig=|signature=|secret=|password=|passwd=|pwd=|auth=|jwt=|code=|credential=",
)
_DIRECTIVE = hinted(
    r"(?m)^[ \t]*[\w.-]{0,40}(?:password|passwd|_pw|(?:smtp|auth|db|ldap|bind|mysql|redis|admin|user|ftp|imap)_pass|requirepass|masterauth|bindpw|rootpw|bindpasswd) +[\"']?(?=[^\s\"']*\d)(?P<value>[^\s\"']{6,})[\"']?[ \t]*$",
    "password |passwd |_pw |_pass |requirepass |masterauth |bindpw |rootpw |bindpasswd ",
)
ANNOUNCED = (_PROSE, *_TALK, _DIRECTIVE, _TALK_ELSEWHERE, _CHINESE, _NETRC, _BEARER, _QUERY)
"""The value counts if it looks like a secret itself."""

SESSIONS = (
    hinted(
        r"(?<![\w-])(?:connect\.sid|phpsessid|jsessionid|asp\.net_sessionid|laravel_session|session_?id|sid)=(?!s-\d-\d)(?P<value>[^;&\s\"']{16,})",
        "sid=|sessionid=|session_id=|session=",
    ),
    hinted(
        r"(?:-b|--cookie)[ =][\"']?[\w.-]{0,40}?(?:sess|sid|token|auth|jwt)[\w.-]{0,40}=(?P<value>[^;\s\"']{8,})",
        "-b |-b=|--cookie",
    ),
    hinted(
        r"(?m)^[\w.*-]+:(?:5432|5433|6432|\*):[\w*-]+:[\w*-]+:(?P<value>\S{6,})$",
        ":5432:|:5433:|:6432:|:*:",
    ),
)
"""Sessions, and lines of a file of passwords: the value counts if it has the shape of one."""

_TELLING = r"(?:pass(?:word|wd|phrase)|(?<=_)pass|pwd|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|auth[_-]?key)"
NAMES_THEN_VALUES = (
    hinted(
        r"(?:key|name)\s*=\s*[\"'][\w.:-]*?(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key)[\"']\s+value\s*=\s*"
        r"[\"'](?P<value>[^\"'\n]{4,})",
        "value",
    ),
    hinted(
        rf"(?:env(?<!\wenv)|setenv(?<!\wsetenv)|arg(?<!\warg)|#define)[ \t]+\w*{_TELLING}(?:_base)?[ \t]+[\"']?(?P<value>[^\s\"'=]{{6,}})",
        "env |env\t|#define|arg |arg\t",
    ),
    hinted(
        rf"define\(\s*[\"']\w*{_TELLING}[\"']\s*,\s*[\"'](?P<value>[^\"'\n]{{4,}})[\"']",
        "define(",
    ),
    hinted(
        rf"\bname[\"']?\s*:\s*[\"']?\w*{_TELLING}[\"']?\s*,?\s*[\"']?value[\"']?\s*:\s*[\"']?(?P<value>[^\s\"',}}]{{4,}})",
        "value",
    ),
    hinted(
        r"\bset_?(?:password|passwd|secret|token|api_?key|access_?key)\(\s*[\"'](?P<value>[^\"'\n]{4,})[\"']",
        "password(|passwd(|secret(|token(|key(",
    ),
    hinted(
        r"\b\w{0,20}(?:set|put|add|append|header|property)\w{0,20}\(\s*[\"'][\w.-]{0,40}?(?:password|secret|token|api[_-]?key)[\"']\s*,\s*[\"'](?P<value>[^\"'\n]{6,})[\"']",
        "password\"|password'|secret\"|secret'|token\"|token'|key\"|key'",
    ),
    hinted(
        r"\.(?:login|run|authenticate|set_?token)\(\s*[\"'](?=[^\"'\s]*\d)(?P<value>[^\"'\s]{16,})[\"']",
        "login(|run(|authenticate(|token(",
    ),
    hinted(
        r"\bvalue=[\"'](?P<value>[^\"'\n]{4,})[\"']\s+name=[\"'][\w.-]{0,40}?(?:password|secret|token|api[_-]?key)[\"']",
        "value=",
    ),
    hinted(
        r"<\w{0,30}(?:password|secret|token|api_?key)\w{0,10}[ \t]+value=[\"'](?P<value>[^\"'\n]{4,})[\"']",
        "value=",
    ),
    hinted(
        r"(?:password|secret|token|key)>\s*<!\[cdata\[(?P<value>[^\]\n]{4,})\]",
        "cdata",
    ),
    hinted(r"identified (?:with \w+ )?by[ \t]+[\"'](?P<value>[^\"'\n]{4,})[\"']", "identified "),
    hinted(r"password[^\n]{0,8}[\"'];?\s*send(?:line)?\s+[\"'](?P<value>[^\"'\n\\]{4,})", "send"),
    hinted(r"password:[ \t]*[|>][-+]?[ \t]*\n[ \t]+(?P<value>\S{6,})", "password:"),
    hinted(
        rf"{_TELLING}[\"']?[ \t]*[:=][ \t]*\r?\n[ \t]+(?:[\"'](?P<value>[^\"'\n]{{4,}})[\"'])",
        "|".join(
            name + end
            for name in ("pass", "password", "secret", "token", "key")
            for end in (":\n", '":\n', ": \n", "=\n", ":\r")
        ),
    ),
    hinted(
        r"convertto-securestring[ \t]+(?:-string[ \t]+)?[\"'](?P<value>[^\"'\n$]{4,})[\"']",
        "securestring",
    ),
)
"""In code and markup: nearly any value counts."""

_KUBERNETES_KIND = "kind: secret"
_KUBERNETES_SECRET = re.compile(
    r"(?m)^[ \t]{1,20}[\w.-]{1,60}:[ \t]{0,4}[\"']?(?P<value>[a-z0-9+/=]{16,})[\"']?[ \t]*+$"
)
"""Below the kind."""

SEED_WORDS = hinted(
    r"(?:seed|recovery|mnemonic|backup)(?: phrase| words?)?[ \t]*[:=][ \t]*[\"']?(?P<value>[a-z]{3,8}(?: [a-z]{3,8}){11,23})",
    "seed|recovery|mnemonic|backup",
)
RECOVERY_CODES = hinted(
    r"(?:recovery|backup|one-time|2fa|mfa) codes?[ \t]*[:=]?\s*(?P<value>(?:(?=[a-z-]*\d)[a-z0-9]{4,8}-[a-z0-9]{4,8}[ \t\r\n,]*)+)",
    "recovery code|backup code|one-time code|2fa code|mfa code",
)
COOKIES = hinted(r"cookie\"?'?\s*[:=]\s*(?P<pairs>[^\n]+)", "cookie")
_COOKIE = re.compile(r"(?:sess|sid|token|auth|jwt|login|remember|csrf|xsrf)[\w.-]*=(?P<value>[^;\s\"']{8,})")
_CODE_LOOKUP = re.compile(r"[A-Za-z_$][A-Za-z_$]{0,24}(?:\??\.[A-Za-z_$][A-Za-z_$]{0,24})+;?")

PATTERNS = (NAMED, *ANNOUNCED, *SESSIONS, *NAMES_THEN_VALUES, SEED_WORDS, RECOVERY_CODES, COOKIES)


def named_spans(text: str, lower: str, possible: Collection[Hinted]) -> Iterator[Span]:
    """The spans of secret-looking values after a name that says so; `lower` is `text` in lower case."""
    if NAMED in possible:
        yield from _named_values(text, lower)
    for each in ANNOUNCED:
        for value in _values(each, lower, possible):
            if has_shape(text[slice(*value)]) and is_secret(text[slice(*value)], strong=False):
                yield value
    for each in SESSIONS:
        for value in _values(each, lower, possible):
            if has_shape(text[slice(*value)]):
                yield value
    for each in NAMES_THEN_VALUES:
        for value in _values(each, lower, possible):
            if is_secret(text[slice(*value)], strong=True):
                yield value
    yield from _values(SEED_WORDS, lower, possible)
    yield from _values(RECOVERY_CODES, lower, possible)
    if _KUBERNETES_KIND in lower:
        for found in _KUBERNETES_SECRET.finditer(lower, lower.index(_KUBERNETES_KIND)):
            if has_shape(text[slice(*found.span("value"))]):
                yield found.span("value")
    for header in COOKIES.pattern.finditer(lower) if COOKIES in possible else ():
        for found in _COOKIE.finditer(lower, *header.span("pairs")):
            yield found.span("value")


def _values(one: Hinted, lower: str, possible: Collection[Hinted]) -> Iterator[Span]:
    if one in possible:
        for found in one.pattern.finditer(lower):
            yield found.span("value")


def _named_values(text: str, lower: str) -> Iterator[Span]:
    place = 0
    while found := NAMED.pattern.search(lower, place):
        span = _named_value(text, lower, found)
        if span is not None:
            yield span
        is_short = found.end() - found.end("name") < _LONGEST_AGAIN
        place = found.end("name") if span is None and is_short else found.end()


def _named_value(text: str, lower: str, found: re.Match[str]) -> Span | None:
    strength = _strength(text, lower, found)
    if strength is None:
        return None
    group = "quoted" if found["quoted"] is not None else "bare"
    start, end = found.span(group)
    value = text[start:end]
    if group == "bare":
        value = _bare_value(value, found["separator"])
        if "#" in value and _IN_A_QUERY.search(text, max(0, start - _LONGEST_USER), found.end("name")):
            value = value.partition("#")[0]
        end = start + len(value)
        if text[end : end + 1] in ("(", "[") or _CODE_LOOKUP.fullmatch(value):
            return None
        if "@" in value and _is_in_userinfo(text, found.start()):
            return None
    is_assignment = group == "quoted" or found["separator"] in ("=", ":=", "=>", ">", "%3d")
    return (start, end) if is_secret(value.strip(), strong=strength and is_assignment) else None


def _bare_value(value: str, separator: str) -> str:
    """Without the sentence's full stop; in a percent-encoded query the value ends where the next name begins."""
    return value.split("%26", 1)[0] if separator == "%3d" else value.rstrip(".")


def _is_in_userinfo(text: str, start: int) -> bool:
    """Is the name the user of a URL, as in `https://x-access-token:…@host`? The rule for URLs masks that."""
    before = text[max(0, start - _LONGEST_USER) : start]
    return "://" in before and not re.search(r"[\s/?#]", before.rpartition("://")[2])


def _strength(text: str, lower: str, found: re.Match[str]) -> bool | None:
    """Does the name leave little doubt? None when it is no name: a word's tail like `monkey`, a page mark."""
    name, start = found["name"], found.start()
    before = lower[max(0, start - _LONGEST_QUALIFIER) : start]
    if _MARKS_A_PAGE.search(before):
        return None
    if found["separator"] == ":" and before.endswith(":") and found.end("separator") == found.start("bare"):
        return None
    if name == "pwd" and before[-1:].isalpha():
        return None
    if name == "pass" and _MAKES_A_PASSWORD.search(before):
        return True
    if name in _ALWAYS_STRONG or name == "pat" or (name in ("key", "token") and _MAKES_STRONG.search(before)):
        return True
    if name == "key":
        return False if before.endswith("-") else None
    is_whole = not text[start - 1 : start].isalpha() or before.endswith(("%3f", "%26"))
    return False if is_whole or (text[start - 1].islower() and text[start].isupper()) else None
