"""Files that are sensitive by name: credentials, start-up files, files that make other programs run code.

A rule is data: globs over folded text (see `fold`), `*` within one component, `**` across them. `where` says
what they are matched against: "home" the whole part below a home folder, "system" the whole path without
its leading slash, "anywhere" the end of the path from any component on. Every rule holds for writing;
`credential` ones for reading too.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Literal

Where = Literal["home", "system", "anywhere"]


@dataclass(frozen=True, slots=True)
class NameRule:
    """One family of names, separated by blanks. `what` completes "… is …"; a test runs the examples."""

    what: str
    where: Where
    names: str
    but_not: str = ""
    match: str = ""
    not_match: str = ""
    credential: bool = False


RULES: tuple[NameRule, ...] = (
    NameRule(
        what="a password or key file of the system",
        where="system",
        credential=True,
        names="""
            etc/shadow etc/shadow.* etc/shadow~ etc/shadow- etc/gshadow etc/gshadow.* etc/gshadow-
            etc/security/opasswd etc/sudoers etc/sudoers.d/** etc/ssh/ssh_host_*_key etc/ssl/private/**
            etc/pki/tls/private/** etc/*.keytab etc/ipsec.secrets etc/ipsec.d/private/** etc/ppp/*-secrets
            etc/wireguard/** etc/openvpn/**.key etc/wpa_supplicant/**.conf
            etc/networkmanager/system-connections/** etc/letsencrypt/live/** etc/letsencrypt/archive/**
            etc/letsencrypt/accounts/** etc/kubernetes/*.conf etc/kubernetes/pki/**.key etc/docker/key.json
            etc/rancher/**.yaml etc/master.passwd var/db/dslocal/** var/lib/docker/** var/lib/kubelet/pki/**
            var/lib/kubelet/config.json var/lib/sss/secrets/** root/.ssh/** var/root/.ssh/**
        """,
        match="""
            /etc/shadow /etc/sudoers.d/x /etc/ssh/ssh_host_ed25519_key /etc/letsencrypt/live/a/privkey.pem
            /root/.ssh/id_rsa.pub
        """,
        not_match="/etc/hostname /etc/ssh/ssh_host_ed25519_key.pub /srv/etc/shadow /etc/ssl/certs/ca.pem",
    ),
    NameRule(
        what="in a folder of keys or credentials",
        where="home",
        credential=True,
        names="""
            .ssh/** .gnupg/** .aws/** .azure/** .kube/** .docker/** .minikube/** .oci/** .bluemix/**
            .terraform.d/** .step/** .age/** .pki/** .password-store/** .mozilla/** .thunderbird/**
            library/keychains/** library/cookies/** .local/share/keyrings/** .local/share/kwalletd/**
            .config/gcloud/** .config/op/** .config/1password/** .config/doctl/** .config/rclone/**
            .config/sops/** .config/gh/** .config/glab-cli/** .config/github-copilot/** .config/anthropic/**
            .config/google-chrome/** .config/chromium/** .config/bravesoftware/** .config/microsoft-edge/**
            .config/vivaldi/** library/application?support/google/** library/application?support/firefox/**
            .fly/** .railway/** .vercel/** .netlify/** .wrangler/** .cloudflared/** .ngrok2/** .snowflake/**
            .snowsql/** .dbt/** .influxdbv2/** .mc/** .chef/** .vagrant.d/** .lpass/** .electrum/**
            .bitcoin/** .ethereum/keystore/** .near-credentials/** .vnc/** .purple/** .subversion/auth/**
            .getmail/** .config/heroku/** .config/netlify/** .config/stripe/** .config/ngrok/**
            .config/configstore/** .config/.wrangler/** .config/hcloud/** .config/linode-cli .config/scw/**
            .config/exoscale/** .config/flyctl/** .config/tea/** .config/lab/** .config/helm/**
            .config/containers/auth.json .config/bitwarden?cli/** .config/bitwarden/** .config/rbw/**
            .local/share/rbw/** .config/keepassxc/** .config/solana/** .config/msmtp/** .config/mutt/**
            .config/neomutt/** .config/filezilla/** .config/remmina/** .local/share/remmina/**
            .config/signal/** .config/discord/** .config/slack/** .local/share/telegramdesktop/**
            .local/share/com.vercel.cli/** .config/openai/** .config/irssi/** .config/weechat/** .irssi/**
            .weechat/** .pulumi/credentials.json .circleci/** .travis/**
        """,
        but_not=".ssh/*.pub .ssh/known_hosts .ssh/known_hosts.old .ssh/config",
        match="""
            ~/.ssh/id_rsa ~/.aws/credentials ~/.config/gcloud/a/b.json ~/.kube/config ~/.SSH/id_rsa
            ~/.vercel/auth.json ~/.config/stripe/config.toml ~/.dbt/profiles.yml
        """,
        not_match="""
            ~/ssh/notes.md ~/.awsome/x ~/.dockerfiles/a ~/.ssh/id_rsa.pub ~/.ssh/known_hosts ~/.ssh/config
        """,
    ),
    NameRule(
        what="in the folder of SSH's keys",
        where="home",
        names=".ssh/**",
        match="~/.ssh/id_rsa.pub ~/.ssh/known_hosts",
        not_match="~/ssh/id_rsa.pub",
    ),
    NameRule(
        what="a credential file",
        where="home",
        credential=True,
        names="""
            .netrc _netrc .git-credentials .npmrc .yarnrc .yarnrc.yml .pypirc .pgpass .my.cnf .mylogin.cnf
            .s3cfg .boto .dockercfg .vault-token .terraformrc .claude.json .cargo/credentials
            .cargo/credentials.toml .gem/credentials .bundle/config .m2/settings.xml
            .m2/settings-security.xml .gradle/gradle.properties .config/hub .config/git/credentials
            .config/pip/pip.conf .pip/pip.conf .nuget/nuget/nuget.config .composer/auth.json
            .config/composer/auth.json .claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json
            .huggingface/token .cache/huggingface/token .kaggle/kaggle.json .bash_history .zsh_history
            .sh_history .psql_history .mysql_history .sqlite_history .python_history .rediscli_history
            .node_repl_history .local/share/fish/fish_history .ash_history .ksh_history .irb_history
            .pry_history .lua_history .rhistory .dbshell .local/share/powershell/**
            .config/nushell/history.txt .xauthority .iceauthority .config/pulse/cookie .sentryclirc
            .databrickscfg .pg_service.conf .rclone.conf .wgetrc .curlrc .fetchmailrc .msmtprc .esmtprc
            .mbsyncrc .offlineimaprc .muttrc .mailrc .nuget/nuget.config .openai
        """,
        match="~/.netrc ~/.npmrc ~/.config/hub ~/.cargo/credentials.toml ~/.bash_history",
        not_match="~/netrc.md ~/.npmrc.md ~/.cargo/credentials.md ~/src/.bundle/config",
    ),
    NameRule(
        what="named like a password or environment file",
        where="anywhere",
        credential=True,
        names="""
            .env .env.* *.env .envrc .netrc _netrc .git-credentials .npmrc .pypirc .pgpass .my.cnf
            .dockercfg .s3cfg .boto .htpasswd .vault-token .aws/credentials .aws/config .kube/config
            .docker/config.json credentials credentials.json credentials.yml credentials.yaml
            credentials.toml credentials.ini credentials.cfg credentials.enc secret.json secret.yml
            secret.yaml secret.toml secret.ini secret.env secrets.json secrets.yml secrets.yaml secrets.toml
            secrets.ini secrets.env secrets.properties secrets.enc client_secret*.json service-account*.json
            service_account*.json application_default_credentials.json *firebase-adminsdk*.json kubeconfig
            *.kubeconfig terraform.tfstate terraform.tfstate.* *.tfstate .vault_pass .vault-pass
            vault_pass.txt .secrets .secret rclone.conf .rclone.conf .htdigest *.ovpn wallet.dat
        """,
        but_not="""
            .env.example .env.*.example .env.sample .env.*.sample .env.template .env.*.template .env.tmpl
            .env.*.md .env.dist .env.*.dist .env.default .env.defaults .env.schema .env.md .env.txt
            example.env sample.env template.env
        """,
        match="""
            /w/.env /w/.env.production /w/.ENV. /w/prod.env /w/a/.npmrc /w/credentials.json /w/secrets.yaml
            /w/kubeconfig /w/terraform.tfstate /w/.vault_pass
        """,
        not_match="""
            /w/.env.example /w/.env.local.example /w/environment.yml /w/env.py /w/.environment /w/secrets.py
            /w/credentials.md /w/.env.example.md /w/.envoy.yaml /w/.editorconfig /w/my-secrets.json.md
        """,
    ),
    NameRule(
        what="named like a private key",
        where="anywhere",
        credential=True,
        names="""
            .ssh/id_* .ssh/*.key authorized_keys authorized_keys2 .gnupg/** id_rsa id_dsa id_ecdsa
            id_ed25519 id_ecdsa_sk id_ed25519_sk *.pem *.p12 *.pfx *.pkcs12 *.jks *.keystore *.kdb *.kdbx
            *.ppk *.keytab server.key client.key tls.key ssl.key private.key priv.key host.key ca.key
            root.key *-key.key *.server.key *-server.key *_server.key *-private.key *_private.key
            privkey.key id_rsa.* id_dsa.* id_ecdsa.* id_ed25519.* id_rsa~ id_ed25519~ *.p8 *.psafe3
            secring.* master.key config/credentials/*.key private.asc secret.asc *-private.asc *-secret.asc
            age.key *.agekey
        """,
        but_not="""
            .ssh/id_*.pub id_*.pub id_*.md id_*.txt id_*.rst id_*.html id_*.json id_*.py id_*.js id_*.ts
            id_*.go id_*.rs id_*.c id_*.h id_*.sh ca.pem cacert.pem ca-*.pem *-ca.pem cert.pem *cert.pem
            *certs.pem *-cert.pem chain.pem fullchain.pem *bundle*.pem *.pub.pem pub*.pem *public*.pem
            *_pub.pem *-pub.pem dhparam*.pem *.crt.pem
        """,
        match="/w/keys/server.pem /w/id_rsa /w/.ssh/authorized_keys /w/server.key /w/me.p12 /w/id_rsa.bak",
        not_match="""
            /w/id_rsa_notes.md /w/id_rsa.pub /w/cacert.pem /w/ca-bundle.pem /w/en.key /w/authorized_keys.md
        """,
    ),
    NameRule(
        what="a start-up file of a shell or program",
        where="home",
        names="""
            .profile .login .logout .crontab .forward .procmailrc .pam_environment .xinitrc .xsession
            .xsessionrc .xprofile .xserverrc .config/autostart/** .config/systemd/**
            .config/environment.d/** .config/fish/** .config/nushell/** .config/git/** .config/pip/**
            .config/nvim/** .config/vim/** .config/direnv/** .config/sway/** .config/i3/** .config/hypr/**
            .config/plasma-workspace/** .config/containers/** .config/code/user/** .config/cursor/user/**
            .config/zed/** .local/bin/** bin/** go/bin/** .bun/bin/** .deno/bin/** .cargo/bin/** .cargo/env
            .cargo/config .cargo/config.toml .local/lib/python*/** .local/share/systemd/**
            .local/share/applications/** .local/share/dbus-1/** library/launchagents/** .oh-my-zsh/**
            .vim/** .emacs.d/** .ipython/** .jupyter/** .pyenv/** .nvm/** .rbenv/** .claude/** .codex/**
            .gemini/** .cursor/** .continue/** .vscode/** .vscode-server/** .zsh/** .bashrc.d/**
        """,
        match="~/.profile ~/.config/autostart/x.desktop ~/.config/systemd/user/x.service ~/.local/bin/x",
        not_match="~/.profiles/a ~/project/bin/x ~/.config/myapp/a.toml",
    ),
    NameRule(
        what="a start-up file of a shell or program",
        where="anywhere",
        names="""
            .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_env .zshrc .zshenv .zprofile
            .zlogin .zlogout .kshrc .cshrc .tcshrc .profile .inputrc .vimrc .gvimrc .exrc .nvimrc .emacs
            .mkshrc .hgrc .ssh/config .ssh/rc .ssh/environment .screenrc .tmux.conf .nanorc .sqliterc
            .psqlrc .gdbinit .lldbinit .irbrc .pdbrc .pythonrc .pythonrc.py .rprofile .curlrc .wgetrc
            .mailrc .xinitrc .xsession .xprofile .config/fish/config.fish .config/powershell/*profile.ps1
            sitecustomize.py usercustomize.py *.pth *.desktop.autostart
        """,
        match="/w/.bashrc /w/.zshenv /w/lib/sitecustomize.py /w/x.pth",
        not_match="/w/bashrc.md /w/.bashrc.md /w/profile.py /w/site.py",
    ),
    NameRule(
        what="a file that makes another program run code",
        where="anywhere",
        names="""
            .git .git/** .gitconfig .gitmodules .hg/hgrc .svn/**
            .husky/** .githooks/** .pre-commit-config.yaml
            lefthook.yml lefthook.yaml .lefthook.yml lefthook-local.yml .vscode/settings.json
            .vscode/tasks.json .vscode/launch.json .vscode/extensions.json .vscode/mcp.json *.code-workspace
            .idea/** .run/** .zed/** .devcontainer/** .devcontainer.json .mcp.json mcp.json .cursor/**
            .windsurf/** .cursorrules .claude/settings*.json .claude/hooks/** .claude/commands/**
            .claude/agents/** .claude/skills/** .claude/plugins/** .codex/** .gemini/** .continue/**
            .aider.conf.yml .direnvrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.js .cargo/config
            .cargo/config.toml .bazelrc .dir-locals.el .lvimrc .autoenv .autoenv.zsh .mise.toml mise.toml
        """,
        match="""
            /w/.git/hooks/pre-commit /w/.GIT/config /w/sub/.git/hooks/x /w/.vscode/settings.json
            /w/.mcp.json /w/.Cursor/mcp.json /w/.husky/pre-push /w/.git /w/git~1/config
        """,
        not_match="""
            /w/.gitignore /w/.github/workflows/ci.yml /w/git/config /w/hooks/pre-commit /w/.gitattributes
            /w/.vscode/README.md /w/.editorconfig
        """,
    ),
    NameRule(
        what="a job, log-in or start-up file of the system",
        where="system",
        names="""
            etc/cron* etc/cron*/** etc/anacrontab etc/at.allow etc/at.deny etc/ld.so.* etc/ld.so.conf.d/**
            etc/profile etc/profile.d/** etc/bash.bashrc etc/bashrc etc/zsh/** etc/zshrc etc/zshenv
            etc/environment etc/rc.local etc/init.d/** etc/rc?.d/** etc/systemd/** etc/pam.d/** etc/pam.conf
            etc/passwd etc/passwd- etc/group etc/security/** etc/ssh/** etc/udev/** etc/modprobe.d/**
            etc/modules-load.d/** etc/xdg/autostart/** etc/apt/** etc/inittab etc/init/** etc/logrotate.d/**
            etc/network/** etc/dbus-1/** etc/polkit-1/** etc/doas.conf etc/sysctl.d/** etc/sysctl.conf
            etc/hosts.allow etc/hosts.deny var/spool/cron/** var/spool/at/** library/launchagents/**
            library/launchdaemons/** library/startupitems/** run/systemd/** run/udev/** boot/** efi/**
        """,
        match="/etc/cron.d/x /etc/ld.so.preload /etc/profile.d/a.sh /var/spool/cron/root /etc/pam.d/sshd",
        not_match="/etc/hostname /w/etc/cron.d/x",
    ),
)
"""In no particular order: any one that matches decides."""

SYSTEM_FOLDERS = frozenset(
    (
        "etc",
        "boot",
        "bin",
        "sbin",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "usr",
        "efi",
        "library",
        "system",
        "private",
    )
)
"""Top-level folders, folded, that hold the system itself; from a chat, nothing honest is written there."""

PSEUDO_FOLDERS = ("/proc", "/dev", "/sys", "/run/secrets", "/var/run/secrets", "/run/credentials")
"""Interfaces of the kernel and of container secrets, where a name is not a file."""

SOCKETS = re.compile(
    r"(?:/private)?(?:/var)?/run/.*(?:\.sock(?:et)?|/bus|_socket)|/tmp/\.(?:x11|ice)-unix/.*|.*/s\.gpg-agent[^/]*"
)
"""Where services listen, folded; also while none does, as it may by the time of opening."""


def fold(path: str) -> str:
    """The path as the most forgiving file system would compare it. For refusing only, never for opening."""
    text = (path if path.isascii() else unicodedata.normalize("NFKC", path)).casefold()
    if not _OTHER_SPELLING.search(text):
        return text
    parts = [part.partition("::$")[0].rstrip(" .") or part for part in text.split("/")]
    return "/".join(".git" if part == "git~1" else part for part in parts)


_OTHER_SPELLING = re.compile(r"::\$|[ .](?:/|$)|git~1")
"""Stands in whatever has one: most paths have none."""


def is_within(path: str, folder: str) -> bool:
    """Is `path` that folder or below it? By component: /a/bc is not within /a/b."""
    return path == folder or path.startswith(folder if folder.endswith("/") else folder + "/")


def matching_rule(path: str, home: str, *, for_reading: bool) -> NameRule | None:
    """The first rule that a folded absolute path falls under. `home` is folded too."""
    places: tuple[tuple[Where, str], ...] = (
        ("anywhere", path),
        ("system", path.removeprefix("/private").removeprefix("/")),
        ("home", _below_home(path, home)),
    )
    for where, text in places:
        pattern, rules = _compiled(where, for_reading)
        found = pattern.search(text)
        if found is not None and found.lastgroup is not None:
            return rules[int(found.lastgroup[1:])]
    return None


_OTHER_HOMES = re.compile(r"/(?:root|var/root|home/[^/]+|users/[^/]+)(?:/|$)")


def _below_home(path: str, home: str) -> str:
    if home and is_within(path, home):
        return path[len(home.rstrip("/")) + 1 :]
    other = _OTHER_HOMES.match(path)
    return path[other.end() :] if other else ""


@cache
def _compiled(where: Where, for_reading: bool) -> tuple[re.Pattern[str], tuple[NameRule, ...]]:
    """One expression for all rules of a place, with a named group for each."""
    rules = tuple(rule for rule in RULES if rule.where == where and (rule.credential or not for_reading))
    start = "(?:^|/)" if where == "anywhere" else "^"
    groups = "|".join(f"(?P<r{number}>{expression(rule)})" for number, rule in enumerate(rules))
    return re.compile(f"{start}(?:{groups})$" if rules else r"(?!)"), rules


def expression(rule: NameRule) -> str:
    """The rule as one regular expression."""
    exception = f"(?!(?:{_alternatives(rule.but_not)})$)" if rule.but_not else ""
    return f"{exception}(?:{_alternatives(rule.names)})"


def _alternatives(globs: str) -> str:
    return "|".join(_glob_expression(glob) for glob in globs.split())


def _glob_expression(glob: str) -> str:
    parts = re.split(r"(\*\*|\*|\?)", glob)
    return "".join(_WILDCARDS.get(part) or re.escape(part) for part in parts)


_WILDCARDS = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
