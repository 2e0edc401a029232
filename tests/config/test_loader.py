"""Loading: what refuses the start, with which line and key, and what is taken as what."""

from __future__ import annotations

from pathlib import Path

import pytest

from echo_bot.channel import ChannelManifest
from echo_bot.config.channels import adapter_settings
from echo_bot.config.finding import find_config
from echo_bot.config.loader import Loaded, config_from_keys, load_config
from echo_bot.errors import ConfigError

MATRIX = ChannelManifest(
    "matrix", "Matrix", "matrix_channel:build", options=("server",), secrets=("password",)
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def load(file: Path, text: str, **environ: str) -> Loaded:
    file.write_text(text, encoding="utf-8")
    return load_config(file, environ)


REFUSED = {
    "a misspelt word names the nearest": (
        "permissions:\n  approval:\n    mode: of\n",
        "3: permissions.approval.mode: must be one of manual, off, smart; did you mean off?",
    ),
    "a misspelt key names the nearest": (
        "permissions:\n  approval:\n    mode: off\n    auto_aprove: [exec]\n",
        "4: permissions.approval.auto_aprove: there is no such key; did you mean auto_approve?",
    ),
    "a key in the wrong section names the right one": (
        "permissions:\n  approval:\n    allow_from: {}\n",
        "3: permissions.approval.allow_from: there is no such key; did you mean "
        "permissions.elevated.allow_from?",
    ),
    "an unknown profile names the nearest": (
        "tools:\n  profile: codng\n",
        "2: tools.profile: must be one of minimal, messaging, coding, full; did you mean coding?",
    ),
    "an unknown key with nothing near lists what belongs there": (
        "credentials:\n  zzz: 1\n",
        "2: credentials.zzz: there is no such key; here belong encryption_key_env, require_encryption",
    ),
    "yes is a word in YAML 1.2": (
        "tools:\n  exec:\n    enabled: yes\n",
        "3: tools.exec.enabled: must be true or false (YAML 1.2 takes yes, no, on and off as words)",
    ),
    "a language is a code": (
        "tools:\n  stt: {language: Portuguese}\n",
        "2: tools.stt.language: write the two or three letters of a language, such as de or pt",
    ),
    "a number is no text": ("workspace: 1\n", "1: workspace: must be text; put it in quotes"),
    "a text is no number": ("gateway:\n  port: '1'\n", "2: gateway.port: must be a whole number"),
    "a port has a limit": ("gateway: {port: 70000}\n", "1: gateway.port: must be at most 65535"),
    "a text is no list": ("tools:\n  deny: exec\n", "2: tools.deny: must be a list"),
    "a list is no section": ("tools: [exec]\n", "1: tools: must hold keys and values"),
    "a key twice": ("language: en\nlanguage: zh\n", "2: language: the key stands here twice"),
    "no keys at all": ("- one\n", "1: the file must hold keys and values, such as `workspace: …`"),
    "an allowlist entry is one of two": (
        "permissions:\n  approval:\n    allowlist:\n      - {tool: exec, preset: read_only_shell}\n",
        "4: permissions.approval.allowlist.0: an entry is either {tool: …, args: {…}} or "
        "{preset: read_only_shell}",
    ),
    "everybody is no admin": (
        'permissions:\n  admin_users: ["*"]\n',
        '2: permissions.admin_users: "*" would name everybody; list ids as channel:id',
    ),
    "everybody is no approver": (
        'permissions:\n  approval:\n    approvers: ["*"]\n',
        '3: permissions.approval.approvers: "*" would name everybody; list ids as channel:id',
    ),
    "the whole file system is no workspace": (
        "workspace: /\n",
        "1: workspace: the whole file system cannot be the workspace; choose a folder",
    ),
    "a time zone that is none": (
        "timezone: Mars/Base\n",
        "1: timezone: there is no such time zone; write it like Europe/Berlin",
    ),
    "an alias must name a chat": (
        "delivery:\n  targets:\n    ops: telegram\n",
        "3: delivery.targets.ops: must be written as channel:chat",
    ),
    "here keeps its meaning": (
        "delivery:\n  targets:\n    here: telegram:1\n",
        "3: delivery.targets.here: this name has a meaning of its own; choose another",
    ),
    "an allowed target must be known": (
        "delivery:\n  allowed_targets: [ops]\n",
        "2: delivery.allowed_targets.0: must be channel:chat or a name from delivery.targets",
    ),
    "flat keys and accounts at once": (
        "channels:\n  telegram:\n    token: x\n    accounts:\n      work: {token: y}\n",
        "2: channels.telegram: write token below each account, or drop accounts",
    ),
    "a key below an account": (
        "channels:\n  telegram:\n    accounts:\n      work: {tokn: y}\n",
        "4: channels.telegram.accounts.work.tokn: there is no such key; did you mean token?",
    ),
    "a channel that is not installed": (
        "channels:\n  matrix: {}\n",
        "2: channels.matrix: there is no such key; here belong cli, discord, max_backlog_minutes, slack, "
        "stream, telegram, web, webhook",
    ),
    "an alias in its own anchor": (
        "tools: &x {deny: [*x]}\n",
        "1: tools.deny.0: an alias stands inside its own",
    ),
    "a foreign tag": ("workspace: !!python/name:os.system x\n", "1: workspace: the tag"),
    "an inspection of nothing": (
        "inspection:\n  enabled: true\n",
        "1: inspection.file: name the text that says what to look at",
    ),
    "an interval without a unit": (
        "inspection:\n  every: '90'\n",
        "2: inspection.every: write a number and m, h or d",
    ),
    "an address without http": (
        "models:\n  base_url: localhost:11434/v1\n",
        "2: models.base_url: write a whole address, such as http://127.0.0.1:8000/v1",
    ),
    "an address that cannot be read": (
        "tools:\n  stt:\n    api_base: http://[::1/v1\n",
        "3: tools.stt.api_base: write a whole address",
    ),
    "an inspection that reports to nowhere": (
        "inspection:\n  enabled: true\n  file: look.md\n  target: here\n",
        "4: inspection.target: must be channel:chat",
    ),
    "a broken bracket": ("tools: [\n", "2: not valid YAML: "),
}

NOT_AVAILABLE = {
    "storage.url": "storage:\n  url: postgresql://h/d\n",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses(file: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(file, text)
    assert str(raised.value).startswith(f"{file}:{message}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("key", "text"), NOT_AVAILABLE.items(), ids=NOT_AVAILABLE.keys())
def test_a_key_of_a_later_part_refuses_rather_than_being_ignored(file: Path, key: str, text: str) -> None:
    with pytest.raises(ConfigError, match="is not available in this version") as raised:
        load(file, text)
    assert (raised.value.key, raised.value.file) == (key, str(file))
    assert raised.value.line > 0


def test_mode_off_stays_a_word(file: Path) -> None:
    assert load(file, "permissions:\n  approval:\n    mode: off\n").config.permissions.approval.mode == "off"


def test_ids_written_as_numbers_keep_their_spelling(file: Path) -> None:
    text = "channels:\n  telegram:\n    allow_from: [42, -100, 007, abc]\n"
    assert load(file, text).config.channels.telegram.allow_from == ("42", "-100", "007", "abc")


def test_an_empty_section_and_an_empty_file_are_the_defaults(file: Path) -> None:
    assert load(file, "tools:\npermissions:\n").config == load(file, "").config


def test_a_byte_order_mark_is_no_key(file: Path) -> None:
    assert load(file, "\ufefflanguage: zh\n").config.language == "zh"


def test_a_secret_shows_nowhere(file: Path) -> None:
    loaded = load(
        file, "channels:\n  telegram:\n    token: hunter2hunter2\nmodels: {api_key: hunter2hunter2}\n"
    )
    assert "hunter2" not in repr(loaded) + str(loaded.config) + loaded.config.model_dump_json()
    assert loaded.yaml_credentials == ("channels.telegram.token", "models.api_key")


def test_a_secret_of_the_wrong_type_shows_nowhere(file: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        load(file, "models:\n  api_key: [hunter2hunter2]\n")
    assert "hunter2" not in str(raised.value)


def test_warnings_leave_the_start_alone(file: Path) -> None:
    text = (
        "permissions: {approval: {mode: smart}}\nchannels: {telegram: {enabled: true, allow_from: ['*']}}\n"
    )
    assert [warning.partition(" ")[0] for warning in load(file, text).warnings] == [
        "permissions.approval.mode",
        "channels.telegram.allow_from",
    ]


def test_a_missing_named_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_config(tmp_path / "none.yaml", {})


def test_text_that_is_not_utf8_is_an_error(file: Path) -> None:
    file.write_bytes(b"workspace: \xff\n")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        load_config(file, {})


class TestSearch:
    def test_the_option_beats_the_variable(self, tmp_path: Path) -> None:
        assert find_config(tmp_path / "a", {"ECHO_BOT_CONFIG": "/b"}) == tmp_path / "a"

    def test_the_variable_names_a_file(self) -> None:
        assert find_config(None, {"ECHO_BOT_CONFIG": "/b/c.yaml"}) == Path("/b/c.yaml")

    def test_the_user_folder_is_looked_at_last(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        assert find_config(None, {}) is None
        (tmp_path / "echo-bot").mkdir()
        (tmp_path / "echo-bot" / "config.yaml").write_text("")
        assert find_config(None, {}) == tmp_path / "echo-bot" / "config.yaml"

    def test_the_current_folder_is_not_looked_at(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "elsewhere"))
        monkeypatch.chdir(tmp_path)
        (tmp_path / "config.yaml").write_text("language: zh\n")
        assert load_config(None, {}).path is None


class TestEnvironment:
    def test_it_beats_the_file(self, file: Path) -> None:
        loaded = load(file, "gateway: {port: 1}\n", ECHO_BOT_GATEWAY__PORT="2")
        assert loaded.config.gateway.port == 2
        assert loaded.from_environment == ("gateway.port",)

    def test_both_spellings_and_the_bot_one_wins(self, file: Path) -> None:
        environ = {
            "ECHO_AGENT_GATEWAY__HOST": "::1",
            "ECHO_AGENT_GATEWAY__PORT": "2",
            "ECHO_BOT_GATEWAY__PORT": "3",
        }
        gateway = load(file, "", **environ).config.gateway
        assert (gateway.host, gateway.port) == ("::1", 3)

    def test_lists_and_tables_are_json(self, file: Path) -> None:
        environ = {
            "ECHO_BOT_PERMISSIONS__ADMIN_USERS": '["telegram:1", 2]',
            "ECHO_BOT_DELIVERY__TARGETS": '{"ops": "telegram:1"}',
        }
        config = load(file, "", **environ).config
        assert config.permissions.admin_users == ("telegram:1", "2")
        assert config.delivery.targets == {"ops": "telegram:1"}

    def test_the_four_plain_names(self, file: Path, tmp_path: Path) -> None:
        environ = {
            "ECHO_BOT_WORKSPACE": str(tmp_path),
            "ECHO_BOT_DATA_DIR": "/d",
            "ECHO_BOT_LANGUAGE": "zh",
            "ECHO_BOT_TIMEZONE": "UTC",
        }
        config = load(file, "", **environ).config
        assert (config.workspace, config.data_dir, config.language, config.timezone) == (
            str(tmp_path),
            "/d",
            "zh",
            "UTC",
        )

    def test_other_names_are_no_configuration(self, file: Path) -> None:
        environ = {"ECHO_BOT_CREDENTIAL_KEY": "x", "ECHO_AGENT_CREDENTIAL_KEY": "x", "HOME__X": "1"}
        assert load(file, "", **environ).from_environment == ()

    def test_a_token_of_digits_stays_text_and_is_not_a_credential_of_the_file(self, file: Path) -> None:
        loaded = load(file, "", ECHO_BOT_CHANNELS__TELEGRAM__TOKEN="123")
        assert loaded.config.channels.telegram.token.get_secret_value() == "123"
        assert loaded.yaml_credentials == ()

    def test_an_unknown_name_is_refused(self, file: Path) -> None:
        with pytest.raises(ConfigError, match=r"gateway\.prt: there is no such key; did you mean port"):
            load(file, "", ECHO_BOT_GATEWAY__PRT="1")

    def test_broken_json_names_the_variable(self, file: Path) -> None:
        with pytest.raises(
            ConfigError, match="ECHO_BOT_TOOLS__DENY: the environment variable is not valid JSON"
        ):
            load(file, "", ECHO_BOT_TOOLS__DENY="[exec")


class TestPlugins:
    def test_an_installed_channel_has_the_keys_of_its_manifest(self, file: Path) -> None:
        file.write_text(
            "channels:\n  matrix: {enabled: true, server: m.org, password: pw, allow_from: ['@a:m']}\n"
        )
        loaded = load_config(file, {}, [MATRIX])
        (settings,) = adapter_settings(loaded.config.channels.matrix)  # type: ignore[attr-defined]  # by manifest
        assert settings.options == {"server": "m.org"}
        assert settings.secrets == {"password": "pw"}
        assert loaded.yaml_credentials == ("channels.matrix.password",)

    def test_other_keys_are_refused(self, file: Path) -> None:
        file.write_text("channels:\n  matrix: {serve: m.org}\n")
        with pytest.raises(
            ConfigError, match=r"channels\.matrix\.serve: there is no such key; did you mean server"
        ):
            load_config(file, {}, [MATRIX])


def test_accounts_become_one_adapter_each(file: Path) -> None:
    text = (
        "channels:\n  telegram:\n    accounts:\n"
        "      work: {enabled: true, token: a, api_base: 'http://h'}\n      home: {token: b}\n"
    )
    (work,) = adapter_settings(load(file, text).config.channels.telegram)
    assert (work.account, work.api_base, work.secrets["token"]) == ("work", "http://h", "a")
    assert "webhook_secret" in work.secrets


def test_cases_may_use_keys_of_later_parts() -> None:
    config = config_from_keys({"permissions.approval.route": "dm", "permissions.admin_users": ["*"]})
    assert config.permissions.approval.route == "dm"
