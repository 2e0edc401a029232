"""Tokens that are recognised by their own shape: what vendors print before or around them."""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

import re

from echo_bot.policy.guards.secrets.hinted import hinted

_WORD = r"[A-Za-z0-9_-]"

_TOKENS = (
    # Telegram bot token, also inside a URL path ("bot<token>") and percent-encoded.
    r"(?:bot)?(?P<telegram>\d{6,12}(?::|%3[Aa])[A-Za-z0-9_-]{30,})",
    r"xox[a-z](?:\.xox[a-z])?-(?=[A-Za-z%-]*\d)[A-Za-z0-9%-]{10,}",
    r"xwfp-(?=[A-Za-z-]*\d)[A-Za-z0-9-]{20,}",
    r"AQ\.Ab8[A-Za-z0-9_-]{30,}",
    r"ABSK[A-Za-z0-9+/=]{60,}",
    r"cio(?=[A-Za-z]*\d)[A-Za-z0-9]{32}(?![A-Za-z0-9])",
    r"(?:hexpm|hcaik|hcxik|hcalk|tfp|sqp|squ|sqa|cfut|cfat|cfk|y0|pylf_v\d|ATTA)_?(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{32,}",
    r"access-(?:production|sandbox|development)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    r"FLWSECK(?:_TEST)?-[0-9a-f]{12,}(?:-X)?",
    r"(?:APP_USR|TEST)-\d{10,}-\d{6}-[0-9a-f]{32}-\d+",
    r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9A-Za-z-])",
    r"re_(?=[A-Za-z]*\d)[A-Za-z0-9]{8}_(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}",
    r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}",
    r"[ps]\.ey[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}",
    r"(?:sdk|api|mob)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9a-f]{32}(?![0-9a-f])",
    r"\d/\d{12,}(?:/\d{12,})?:[0-9a-f]{32}(?![0-9a-f])",
    r"pk_\d{6,10}_[A-Z0-9]{32}",
    r"sl\.u\.[A-Za-z0-9_-]{60,}",
    r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}",
    r"pcsk_(?=[A-Za-z]*\d)[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}",
    r"cmVmdGtu[A-Za-z0-9]{40,}",
    r"AQVN[A-Za-z0-9_-]{30,}",
    r"vk1\.a\.[A-Za-z0-9_-]{60,}",
    r"oauth:(?=[a-z]*\d)[a-z0-9]{30}(?![a-z0-9])",
    r"syt_[A-Za-z0-9]{4,40}_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}",
    r"nsec1(?=[a-z]*\d)[a-z0-9]{50,}",
    r"CCIPAT_[A-Za-z0-9]{16,}_[0-9a-f]{32,}",
    r"v[1-4]\.(?:local|public)\.[A-Za-z0-9_-]{40,}",
    r"API-(?=[A-Z]*\d)[A-Z0-9]{25,36}(?![A-Za-z0-9])",
    # A private key block in base64: "-----BEGIN RSA PRIVATE", "… PRIVATE", "… EC P", "… OPENSSH", "… ENCRYPTED".
    r"LS0tLS1CRUdJTiB(?:SU0Eg|QUklW|FQyBQ|PUEVO|FTkNS|EU0Eg|QR1Ag)[A-Za-z0-9+/=]{20,}",
    r"xapp-\d-[A-Za-z0-9-]{10,}",
    # Discord bot token: three dotted parts, the middle one of exactly six.
    r"(?:mfa\.[\w-]{60,}|[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45})",
    # An access key id, and the secret key next to it as in the console's table.
    r"A(?:KIA|SIA|BIA|CCA|GPA|IDA|IPA|NPA|NVA|PKA|ROA|SCA)[A-Z0-9]{16}(?![A-Za-z0-9])(?:[,;:|/\"']{1,3}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+]))?",
    r"gh[pousr]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"gl(?:pat|dt|rt|ptt|cbt|oas|soat|imt|agent|ft|ffct)-(?!X{8})[A-Za-z0-9_.-]{18,}",
    r"sk-ant-[A-Za-z0-9_-]{20,}",
    r"sk-(?!(?:[a-z]+[-_]){2,8}[a-z0-9]{1,10}(?![A-Za-z0-9_-]))(?:[a-z]+-(?:v\d-)?)?(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
    r"shp[a-z]{1,3}_(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}",
    r"[a-z]{2,8}_(?:live|test|prod)_(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}",
    r"\$(?:2[abxy]|[156y]|apr1|argon2(?:id|i|d)|scrypt|pbkdf2[\w-]*|P|H)\$[./A-Za-z0-9=,$+-]{20,}",
    r"whsec_[A-Za-z0-9+/=]{20,}",
    r"(?:hf|api_org|gsk|fw|r8|ntn|lin_api|lin_oauth|npm|shpat|shpss|shpca|shppa|sbp|nfp|dop_v1|doo_v1|dor_v1|rubygems"
    r"|glc|sntryu|phx|phs|xau|vck|atlasv1|duffel_live|duffel_test|jina|rnd|pcsk|lsv2_(?:pt|sk)|syt|secret|vercel_blob_rw|vc[pcioar]|e2b"
    r"|rpa|sb_secret|sbp|bkua|CCIPAT|CCIPRJ|ghcr|aio|ctx7sk|fio|ion|shippo_live|shippo_test|cal_live|re|lin|tvly|nk|cohere|pnu|op|ops|dn|d1|tok_live|sk|sk_prod|sk_dev|gr|rk|key_live|napi|nx|pk_live|api_live|fm\d|fo1|whsk|oat|rt)_(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}",
    r"(?:dckr_pat|dckr_oat|glsa|sntrys|figd|figo|tgp_v1|pscale_tkn|pscale_pw)_(?=[A-Za-z_-]*\d)[A-Za-z0-9_+/=-]{20,}",
    r"(?:xai|pplx|gsk|nvapi|pat-(?:na|eu)\d|PMAK|NRAK|NRAL|NRII|sgp|tskey(?:-[a-z]+)?)"
    r"-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{24,}",
    r"(?:tvly|xkeysib|xsmtpsib|CFPAT|HRKU|AKCp|ATBB|ATCTT3)-(?:dev-|prod-)?(?=[A-Za-z_-]*\d)[A-Za-z0-9_=-]{24,}",
    r"(?:fc|cio|pul|rpa|tk|r8|mg|pat|sk)-(?:live-|prod-)?(?=[A-Za-z]*\d)[A-Za-z0-9]{24,}",
    r"(?:AKCp|ATBB|ATCTT3|IGQ|AKLT|CLOJARS_|EZAK|EZTK|oy2|BSA|AAAAAAAAAAAAAAAAAAAAA)(?=[A-Za-z%_-]*\d)[A-Za-z0-9%_=-]{20,}",
    r"bce-v3/ALTAK-[A-Za-z0-9]{10,}/[0-9a-f]{30,}",
    r"pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}",
    r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}",
    r"access_token\$(?:production|sandbox)\$[a-z0-9$]{20,}",
    r"[0-9a-f]{32}-us\d{1,2}(?![0-9A-Za-z])",
    r"[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![0-9A-Za-z.])",
    r"ATATT3[A-Za-z0-9_=-]{20,}",
    r"pypi-[A-Za-z0-9_-]{30,}",
    r"GOCSPX-[A-Za-z0-9_-]{20,}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"ya29\.[A-Za-z0-9_.-]{20,}",
    r"1//0[A-Za-z0-9_-]{20,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}",
    r"hv[sbr]\.[A-Za-z0-9_-]{16,}",
    r"dp\.(?:st|pt|ct|scim|audit)\.(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{30,}",
    r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}",
    r"dapi[0-9a-f]{32}(?:-\d)?",
    r"(?:SK|key-)[0-9a-f]{32}(?![0-9A-Za-z])",
    r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])",
    r"AKID[A-Za-z0-9]{28,36}(?![A-Za-z0-9])",
    r"AGE-SECRET-KEY-1[A-Z0-9]{40,}",
    r"EAA[A-Za-z0-9]{60,}",
    r"sl\.[A-Za-z0-9_-]{100,}",
    # JSON web tokens: signed (three parts) and encrypted (five).
    r"eyJ[A-Za-z0-9_-]{6,}\.(?:[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}|(?:\.[A-Za-z0-9_-]{6,}){3})",
    r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}",
    # Shapes that secret scanners publish for single vendors.
    r"p8e-[a-z0-9]{32}(?![a-z0-9])",
    r"rdme_[a-z0-9]{60,}",
    r"csk-(?=[a-z]*\d)[a-z0-9]{40,}",
    r"dt0c01\.[A-Z0-9]{20,}(?:\.[A-Z0-9]{40,})?",
    r"fio-u-(?=[A-Za-z_=-]*\d)[A-Za-z0-9_=-]{60,}",
    r"sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}(?![0-9A-Za-z])",
    r"dnkey-[A-Za-z0-9_=-]{26}-[A-Za-z0-9_=-]{40,}",
    r"(?:pat|sat)\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}",
    r"ico-(?=[A-Za-z]*\d)[A-Za-z0-9]{32}(?![A-Za-z0-9])",
    r"s-s4t2(?:ud|af)-[0-9a-f]{64}",
    r"(?:live|test)_(?:(?=\d*(?:[a-z_=-]+\d+){3})[a-z0-9_=-]{40}|[0-9a-f]{35})(?![A-Za-z0-9_=-])",
    r"(?:live|test)_(?=[A-Za-z]*\d)(?=[0-9a-z]*[A-Z])[A-Za-z0-9]{30,}",
    r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])",
    r"pscale_(?:oauth|pw|tkn)_[A-Za-z0-9_=.-]{32,}",
    r"pub(?:lic)?key-(?=[a-f]*\d)[0-9a-f]{32}(?![0-9a-f])",
    r"NRJS-[0-9a-f]{19}(?![0-9a-f])",
    r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    r"ops_eyJ[A-Za-z0-9+/_-]{100,}={0,3}",
    r"sha256~[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
    r"tk-us-[A-Za-z0-9_-]{48}",
    r"sm_(?:aat|pat|sat)_[A-Za-z0-9]{16,}",
    r"t1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86}={0,2}",
    r"YC(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{38}(?![A-Za-z0-9_-])",
    r"00(?=[A-Za-z_-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])",
    r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}",
    r"GR1348941[A-Za-z0-9_-]{20}",
    r"_gitlab_session=[0-9a-z]{32}",
    r"4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])",
    r"b_(?=[a-z_=-]*\d)[a-z0-9_=-]{44}(?![A-Za-z0-9_=-])",
    r"eyJrIjoi[A-Za-z0-9+/_-]{40,}={0,3}",
    r"(?:tok|wandb_v\d|bb_live|bb_test|apify_api|airtable|hfp|nvt|voyage|vk|ds|mist|ollama|helicone|pk-lf|sk-lf|lf_sk)_(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{28,}",
    r"(?:APP_USR|TEST)-(?=[A-Za-z-]*\d)[A-Za-z0-9-]{50,}",
    r"(?:pk|sk)-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    r"(?:ctx7sk|sk-ant|sk-kimi|sk-cp|ak|sess|key|tok|token|secret|apikey|api)-(?=[A-Za-z_]*\d)(?=[a-z\d_]*[A-Z])(?=[A-Z\d_]*[a-z])[A-Za-z0-9_]{32,}",
)

_ANY_TOKEN = "(?:" + "|".join(f"(?:{token})" for token in _TOKENS) + ")"
TOKENS = re.compile(rf"(?<!{_WORD}){_ANY_TOKEN}")
"""A vendor token. The group `telegram`, where it took part, is the secret part of the match."""

TOKENS_ESCAPED = re.compile(rf"(?:(?<=%[0-9A-Fa-f]{{2}})|(?<=\\[nrtf])|(?<=\\u[0-9A-Fa-f]{{4}})){_ANY_TOKEN}")
"""The same right behind an escape, whose last letter belongs to no word."""

UNLISTED_TOKEN = re.compile(
    rf"(?:(?<!{_WORD})|(?<=%[0-9A-Fa-f]{{2}})|(?<=\\[nrtf]))(?!sha\d|md5)[A-Za-z][A-Za-z0-9]{{1,11}}(?:[_-][a-z0-9]{{1,8}}){{0,2}}[_-](?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])"
    r"(?=\d*(?:[A-Za-z]+\d+){3})[A-Za-z0-9]{32,128}(?![A-Za-z0-9_/+=.-])"
)
"""Of a vendor nobody listed: a short prefix, then one long run in which digits stand among letters of both cases."""

LONGEST_UNSEEN = 35
"""A word has to be longer to hold one of those."""

LONG_WORD = re.compile(r"(?<!\S)\S{15,}")
"""A token is within one: none is shorter, and none holds white space."""

SECRET_PATHS = hinted(
    r"(?:discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/"
    r"|hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/t\w+/\w+/"
    r"|webhook\.office\.com/webhookb2/"
    r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/"
    r"|(?:hooks\.zapier\.com/hooks/catch/\d+|hook\.\w+\.make\.com|hc-ping\.com|infura\.io(?:/ws)?/v3|alchemy\.com/v2|quiknode\.pro|ankr\.com/\w+"
    r"|events\.pagerduty\.com/integration|hooks\.airtable\.com/workflows/v1/genericwebhook(?:/\w+){2}|webhook\.site|hooks\.stripe\.com/redirect|api\.mailgun\.net/v\d/webhooks"
    r"|rocket\.chat/hooks/\w+|chat\.\w+\.\w+/hooks/\w+|outlook\.office(?:365)?\.com/webhook/[\w@-]+/incomingwebhook)/(?=[\w-]{5})"
    r"|/hooks/(?=[a-z0-9]{26}(?![\w-]))|maker\.ifttt\.com/(?:trigger/[\w-]+(?:/json)?/with/key|use)/"
    r"|(?:api\.day\.app|sctapi\.ftqq\.com|sc\.ftqq\.com|qmsg\.zendee\.cn/j?send)/)"
    r"([a-z0-9_/@-]{5,})",
    "webhooks/|hooks.slack|webhookb2|open-apis|hooks.zapier|/hooks/|maker.ifttt|.make.com/|hc-ping|infura.io|alchemy.com|quiknode"
    "|ankr.com|pagerduty|hooks.airtable|webhook.site|day.app|ftqq.com|zendee|hooks.stripe|api.mailgun|/incomingwebhook",
)
"""A web-hook address in lower case; group 1 is the part that lets anybody post."""

PUTTY_KEY = re.compile(r"Private-Lines: \d{1,3}\r?\n(?P<body>(?:[A-Za-z0-9+/=]{4,}\r?\n?)+)")

PRIVATE_KEY_START = re.compile(r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
PRIVATE_KEY_END = re.compile(r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
PRIVATE_KEY_BODY = re.compile(
    r"(?:(?:\\r|\\n|[\s>|])*+(?:[A-Za-z0-9+/=]{16,}+|[A-Z][A-Za-z-]{2,20}: [^\n\\]*+))*+"
)
"""What follows a key's first line when its last line is missing."""
