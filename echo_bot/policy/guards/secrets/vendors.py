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
    r"A(?:KIA|SIA|BIA|CCA|GPA|IDA|IPA|NPA|NVA|PKA|ROA|SCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"gh[pousr]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"gl(?:pat|dt|rt|ptt|cbt|oas|soat|imt|agent|ft|ffct)-(?!X{8})[A-Za-z0-9_.-]{18,}",
    r"sk-ant-[A-Za-z0-9_-]{20,}",
    r"sk-(?!(?:[a-z]+[-_]){2,8}[a-z0-9]{1,10}(?![A-Za-z0-9_-]))(?:[a-z]+-(?:v\d-)?)?(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
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
    r"eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}",
    r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}",
)

TOKENS = re.compile(rf"(?<!{_WORD})(?:" + "|".join(f"(?:{token})" for token in _TOKENS) + ")")
"""A vendor token. The group `telegram`, where it took part, is the secret part of the match."""

LONG_WORD = re.compile(r"(?<!\S)\S{15,}")
"""A token is within one: none is shorter, and none holds white space."""

SECRET_PATHS = hinted(
    r"(?:discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/"
    r"|hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/t\w+/\w+/"
    r"|webhook\.office\.com/webhookb2/"
    r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/"
    r"|hooks\.zapier\.com/hooks/catch/\d+/"
    r"|/hooks/(?=[a-z0-9]{26}(?![\w-]))|maker\.ifttt\.com/(?:trigger|use)(?:/[\w-]+){0,3}?(?:/with/key)?/)"
    r"([a-z0-9_/@-]{8,})",
    "webhooks/|hooks.slack|webhookb2|open-apis|hooks.zapier|/hooks/|maker.ifttt",
)
"""A web-hook address in lower case; group 1 is the part that lets anybody post."""

PUTTY_KEY = re.compile(r"Private-Lines: \d{1,3}\r?\n(?P<body>(?:[A-Za-z0-9+/=]{4,}\r?\n?)+)")

PRIVATE_KEY_START = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
PRIVATE_KEY_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
PRIVATE_KEY_BODY = re.compile(
    r"(?:(?:\\r|\\n|[\s>|])*+(?:[A-Za-z0-9+/=]{16,}+|[A-Z][A-Za-z-]{2,20}: [^\n\\]*+))*+"
)
"""What follows a key's first line when its last line is missing."""
