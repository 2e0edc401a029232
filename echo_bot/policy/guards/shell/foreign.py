"""Program text of other languages: the literal effects that are certain, found without running it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from echo_bot.policy.guards.shell import effects, roots
from echo_bot.policy.guards.shell.botcontrol import judge_bot_code
from echo_bot.policy.guards.shell.foreigntext import DECODERS, decoded, delimited, home, string_value
from echo_bot.policy.guards.shell.marks import HOME
from echo_bot.policy.guards.shell.options import names
from echo_bot.policy.guards.shell.paths import resolve
from echo_bot.policy.guards.shell.roots import Match
from echo_bot.policy.guards.shell.stream import Stream
from echo_bot.policy.guards.shell.trampoline import Steps, call

if TYPE_CHECKING:
    from echo_bot.policy.guards.shell.invocation import Invocation
    from echo_bot.policy.guards.shell.machine import Machine

_TOKEN = re.compile(
    r"""(?P<comment>(?:\#(?!\{)|//(?=[ \t]))[^\n]*)
      |(?P<triple>[rRbBuUfF]{0,2}(?:\"\"\"(?:[^\\"]|\\.|"(?!""))*\"\"\"|'''(?:[^\\']|\\.|'(?!''))*'''))
      |(?P<string>[rRbBuUfF]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))
      |(?P<back>`(?:[^`\\]|\\.)*`)
      |(?P<quoted>\b(?:qx|qw|qq|q)\s*(?:\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]|<[^<>]*>|/[^/]*/|![^!]*!|\|[^|]*\|))
      |(?P<percent>%[xqQwW]?(?:\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]))
      |(?P<name>[A-Za-z_$@][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)*[!?]?)
      |(?P<number>\d+)
      |(?P<space>\s+)
      |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_SHELL_CALLS = re.compile(
    r"(?:os\.)?(?:system|popen\d?|popen2|popen4)|getoutput|getstatusoutput|exec|execsync|"
    r"shell_exec|passthru|proc_open|pcntl_exec"
    r"|check_output|check_call|call|cmd|run|popen|spawn|spawnsync|execfile|execfilesync|"
    r"exec[lv]p?e?|posix_spawn[p]?|spawn[lv]p?e?|capture[23e]*|pipeline|open3|"
    r"create_subprocess_shell|create_subprocess_exec|os\.execute|io\.popen|qx|command|"
    r"shelljs|execa|\$|doshellscript|do_shell_script|sh|process|processbuilder|program|shell|system2|callcommand|spawncommand|run_program|"
    r"callprocess|readprocess|readcreateprocess|shell_command|start_process|syscmd|esyscmd",
    re.IGNORECASE,
)
_TREE_CALLS = re.compile(
    r"rmtree|remove_tree|rm_rf|rm_r|remove_entry(?:_secure)?|remove_dir|rmsync|rm|"
    r"rmdirsync|rimraf(?:sync)?|del(?:sync)?|removesync|emptydirsync|"
    r"removeall|remove_dir_all|deltree|unlink|rmdir|rimraf|removedirs|unlinktree|delete_tree|emptydir|remove",
    re.IGNORECASE,
)
_CERTAIN_TREE = re.compile(
    r"rmtree|remove_tree|remove_dir|rm_rf|rm_r|remove_entry(?:_secure)?|rimraf(?:sync)?|removeall|"
    r"remove_dir_all|deltree|emptydirsync|removesync|emptydir",
    re.IGNORECASE,
)
_OPEN_CALLS = re.compile(
    r"open|fopen|readfile|readfilesync|file_get_contents|file|read|readlines|readall|"
    r"slurp|read_text|read_bytes|path|createreadstream|"
    r"copyfile|copy|copy2|copytree|copyfilesync|copyfilesync|cp|cpsync|cp_r|symlink|"
    r"symlinksync|link|linksync|move|rename|renamesync|"
    r"binread|foreach|readfile|io\.open|io\.lines|include|require|load_file|input|"
    r"fileinput\.input|sysopen|new",
    re.IGNORECASE,
)
_WRITE_CALLS = re.compile(
    r"writefile|writefilesync|appendfile|appendfilesync|file_put_contents|"
    r"createwritestream|write_text|write_bytes|binwrite|"
    r"truncatesync|truncate|opensync|copyfile|copy|copyfilesync|cpsync|move|rename|"
    r"renamesync|symlink|symlinksync|write|output",
    re.IGNORECASE,
)
_KILLS_ALL = re.compile(
    r"(?:os\.kill|process\.kill|posix_kill)\(-?1,"
    r"|(?:process\.)?kill\(?(?:-?\d+|['\":]*\w+['\"]?),-?1(?:;|\)|,|$)",
    re.IGNORECASE,
)
_WRITE_MODE = re.compile(r"[rb]*[wax+][rwab+tx]*|>>?|\+[<>].*|w.*", re.IGNORECASE)
_LOOP_OVER_TEXT = re.compile(
    r"\bfor\s+\(?(?:const |let |var )?(\w+)\s+(?:in|of)\s*[\[(]\s*(['\"])([^'\"]*)\2"
)
_RENAMED_CALLS = re.compile(r"(?:exec|spawn)(?:File)?(?:Sync)?|rmSync|rm|rmdirSync")
_LISPS = names("racket clojure clj bb sbcl clisp ecl gosh chibi-scheme guile emacs emacsclient")
"""Languages in which strings that stand side by side are not joined."""
_MAX_CONSTANTS = 400


def judge_foreign(machine: Machine, inv: Invocation, code: str, arguments: list[str]) -> Steps[str]:
    """Findings of the hard kinds for calls whose arguments are literal text."""
    machine.charge(8 + len(code) // 4)
    judge_bot_code(machine, inv, code)
    saved = machine.only_hard
    machine.only_hard = True
    try:
        yield from _Reader(machine, inv, code, arguments).run()
    finally:
        machine.only_hard = saved
    return ""


class _Reader:
    """One pass over tokens: names followed by constant arguments are calls."""

    def __init__(self, machine: Machine, inv: Invocation, code: str, arguments: list[str]) -> None:
        self.machine = machine
        self.inv = inv
        self.is_lisp = inv.name in _LISPS
        code = code.replace("system*", "system") if self.is_lisp else code
        self.constants: dict[str, str] = {}
        self.tokens = [
            (str(found.lastgroup), found.group())
            for found in _TOKEN.finditer(code)
            if found.lastgroup not in ("space", "comment")
        ]
        for number, argument in enumerate(arguments[:20]):
            self.constants[f"sys.argv[{number + 1}]"] = argument
            self.constants[f"ARGV[{number}]"] = argument
            self.constants[f"$ARGV[{number}]"] = argument
            self.constants[f"process.argv[{number + 1}]"] = argument
        for found in _LOOP_OVER_TEXT.finditer(code):
            self.constants.setdefault(found.group(1), found.group(3))
        self.moved = False
        self.aliases: dict[str, str] = {}

    def run(self) -> Steps[None]:
        index = 0
        tokens = self.tokens
        while index < len(tokens):
            kind, text = tokens[index]
            executed = kind == "string" and self.text(index + 1) == "." and self.text(index + 2) == "execute"
            quoted = kind in ("quoted", "percent") and text.lstrip("%").startswith(("qx", "x"))
            if executed or quoted or kind == "back":
                yield from self.shell(string_value(text) if executed else delimited(text))
            elif kind == "name":
                self.multiplies(index, text)
                if text.lower().endswith("kill"):
                    self.kills(index)
                self.assignment(index, text)
                yield from self.name(index, text)
            index += 1

    def kills(self, index: int) -> None:
        """`os.kill(1, 9)`, `kill 9, -1`."""
        if _KILLS_ALL.match("".join(text for _, text in self.tokens[index : index + 7])):
            self.machine.deny("shutdown", "Kills process 1 or every process.", self.inv)

    def multiplies(self, index: int, name: str) -> None:
        """`while 1: os.fork()`, `fork while fork`: processes without end."""
        if name not in ("while", "loop", "until", "for"):
            return
        near = [re.split(r"\.|::", text)[-1].lower() for _, text in self.tokens[index + 1 : index + 9]]
        before = [text.lower() for _, text in self.tokens[max(index - 4, 0) : index]]
        if name in ("while", "until") and any(re.split(r"\.|::", text)[-1] == "fork" for text in before):
            near.append("fork")
        if name == "for" and "fork" in [re.split(r"\.|::", text)[-1] for text in before]:
            endless = {"iter", "itertools.count", "count", "itertools.repeat", "repeat", "itertools.cycle"}
            if not endless.isdisjoint(near):
                self.machine.deny("shutdown", "Starts processes without end.", self.inv)
        if "fork" in near and (name != "for" or near[1:3] == [";", ";"]):
            self.machine.deny("shutdown", "Starts processes without end.", self.inv)

    def assignment(self, index: int, name: str) -> None:
        """`x = "text"`: the name stands for the text from here on; `import x as y` likewise."""
        following = self.text(index + 1)
        if following == "=" and self.text(index + 2) != "=":
            value, _ = self.expression(index + 2)
            if value is not None:
                if len(self.constants) < _MAX_CONSTANTS:
                    self.constants[name] = value
            elif self.kind(index + 2) == "name" and self.text(index + 3) not in ("(", "+"):
                self.aliases[name] = self.text(index + 2)
        elif self.kind(index + 2) == "name" and (
            following == "as"
            or (following == ":" and _RENAMED_CALLS.fullmatch(name) and self.text(index - 1) in ("{", ","))
        ):
            self.aliases[self.text(index + 2)] = name

    def text(self, index: int) -> str:
        return self.tokens[index][1] if index < len(self.tokens) else ""

    def kind(self, index: int) -> str:
        return self.tokens[index][0] if index < len(self.tokens) else ""

    def name(self, index: int, name: str) -> Steps[None]:
        name = self.aliases.get(name, name)
        if self.text(index + 1) == "(":
            arguments, is_list, end = self.arguments(index + 2, in_parentheses=True)
            method = self.text(end + 1)
            if arguments and self.kind(end + 1) == "other" and method == "." and self.kind(end + 2) == "name":
                yield from self.effect(self.text(end + 2), arguments, is_list)
            yield from self.effect(name, arguments, is_list)
        elif self.kind(index + 1) in ("string", "triple", "quoted", "percent") or self.text(index + 1) in (
            "[",
            "{",
            "<",
            ">",
        ):
            arguments, is_list, _ = self.arguments(index + 1)
            yield from self.effect(name, arguments, is_list)
        elif name == "open" and self.kind(index + 1) == "name" and self.text(index + 2) == ",":
            arguments, is_list, _ = self.arguments(index + 3)
            yield from self.effect(name, arguments, is_list)
        elif self.kind(index + 1) == "name" and name[-1:].isalpha() and _SHELL_CALLS.fullmatch(name):
            value, _ = self.operand(index + 1)
            yield from self.effect(name, [] if value is None else [value], False)

    def arguments(self, index: int, in_parentheses: bool = False) -> tuple[list[str], bool, int]:
        """Constant arguments up to the closing parenthesis; what is not constant is UNKNOWN."""
        values: list[str] = []
        is_list = False
        depth = 0
        start = index
        while index < len(self.tokens) and index - start < 60:
            kind, text = self.tokens[index]
            if kind == "other" and text in "([{":
                is_list = is_list or text == "["
                depth += 1
            elif kind == "other" and text in ")]}":
                if depth == 0:
                    break
                depth -= 1
            elif kind == "other" and text == ";" and depth == 0 and not in_parentheses:
                break
            elif text.startswith(("qw", "%w", "%W")) and kind in ("quoted", "percent"):
                values.extend(delimited(text).split())
                is_list = True
            elif kind != "other":
                value, end = self.expression(index)
                if value is not None:
                    values.append(value)
                    index = end
                    continue
                if kind == "name" and text.endswith(("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC")):
                    values.append("w")
                if kind == "name" and text.lower() in ("recursive", "force", "shell", "true", "mode"):
                    values.append(text.lower() + "=")
            index += 1
        return values, is_list, index

    def expression(self, index: int) -> tuple[str | None, int]:
        """A constant: strings and known names joined by +, . or juxtaposition; (value, index behind it)."""
        value, index = self.operand(index)
        if value is None:
            return None, index
        pieces = [value]
        while True:
            text = self.text(index)
            step = 1 if text in ("+", ".") else 2 if text == "." and self.text(index + 1) == "." else 0
            if self.text(index) == "." and self.text(index + 1) == ".":
                step = 2
            if not step and (self.is_lisp or self.kind(index) not in ("string", "triple")):
                break
            more, end = self.operand(index + step)
            if more is None:
                break
            pieces.append(more)
            index = end
        return "".join(pieces), index

    def operand(self, index: int) -> tuple[str | None, int]:
        kind, text = self.kind(index), self.text(index)
        if kind in ("string", "triple"):
            return string_value(text), index + 1
        if kind in ("quoted", "percent") and not text.lstrip("%").startswith(("qx", "x")):
            return delimited(text), index + 1
        if kind == "name":
            return self.named(index, text)
        return None, index

    def named(self, index: int, text: str) -> tuple[str | None, int]:
        if text in self.constants:
            return self.constants[text], index + 1
        if self.text(index + 1) == "[" and self.text(index + 3) == "]":
            key = f"{text}[{self.text(index + 2)}]"
            if key in self.constants:
                return self.constants[key], index + 4
            if text in ("os.environ", "process.env", "ENV") and self.text(index + 2).strip("'\"") == "HOME":
                return HOME, index + 4
        lowered = text.lower()
        if lowered in ("process.env.home", "$env{home}", "dir.home", "os.homedir"):
            return HOME, index + (3 if self.text(index + 1) == "(" else 1)
        last = re.split(r"\.|::|->", text)[-1].lower()
        if self.text(index + 1) != "(":
            return None, index
        if last in (
            "path",
            "expanduser",
            "join",
            "purepath",
            "posixpath",
            "resolve",
            "str",
            "pathname",
            "expand_path",
            "abspath",
            "realpath",
            "fspath",
            "file",
            "home",
            "homedir",
            "split",
            "normalize",
        ):
            if last in ("home", "homedir"):
                return HOME, index + 3
            values, _, end = self.arguments(index + 2)
            if not values:
                return None, index
            joined = (
                "/".join(values) if last in ("join", "path", "resolve") and len(values) > 1 else values[0]
            )
            return (HOME + joined[1:] if joined[:1] == "~" else joined), end + 1
        if last in DECODERS:
            values, _, end = self.arguments(index + 2)
            return (decoded(last, values) if values else None), self.behind_methods(end + 1)
        if last == "chr" and self.kind(index + 2) == "number" and self.text(index + 3) == ")":
            number = int(self.text(index + 2))
            return (chr(number) if 0 < number < 0xD800 else None), index + 4
        return None, index

    def behind_methods(self, index: int) -> int:
        """Past `.decode()` and `.toString()`, which keep the text."""
        while (
            self.text(index) == "."
            and self.text(index + 1).lower() in ("decode", "tostring", "to_s", "strip")
            and self.text(index + 2) == "("
        ):
            index = self.arguments(index + 3)[2] + 1
        return index

    def effect(self, name: str, arguments: list[str], is_list: bool) -> Steps[None]:
        """Judge one call."""
        last = re.split(r"\.|::|->|\?\.", name)[-1].rstrip("!?")
        if not arguments:
            return
        machine, inv = self.machine, self.inv
        texts = [text for text in arguments if not text.endswith("=")]
        if not texts:
            return
        if _SHELL_CALLS.fullmatch(last) or _SHELL_CALLS.fullmatch(name):
            yield from self.spawned(texts, is_list)
        if last == "chdir":
            self.inv = replace(inv, state=inv.state.copy())
            self.inv.state.change_folder(resolve(home(texts[0]), inv.place))
            self.moved = True
        if name in ("exec", "eval", "Function") and not is_list and len(texts[0]) < 5000:
            yield from call(judge_foreign(machine, inv, texts[0], []))
        if _TREE_CALLS.fullmatch(last) and (_CERTAIN_TREE.fullmatch(last) or "recursive=" in arguments):
            for text in texts:
                if roots.root_match(home(text), inv.place) is Match.YES and (
                    self.moved or text[:1] in ("/", "~", HOME)
                ):
                    effects.delete_tree(machine, inv, home(text))
        opens = _OPEN_CALLS.fullmatch(last) or _OPEN_CALLS.fullmatch(name)
        writes = _WRITE_CALLS.fullmatch(last)
        if opens and texts[0][:1] == "|":
            yield from self.shell(texts[0].lstrip("|-"))
        elif last == "open" and texts[0].rstrip()[-1:] == "|":
            yield from self.shell(texts[0].rstrip()[:-1])
        elif opens or writes:
            self.opened(texts, bool(writes))

    def opened(self, texts: list[str], writes: bool) -> None:
        machine, inv = self.machine, self.inv
        writes = writes or any(_WRITE_MODE.fullmatch(text) for text in texts[1:])
        writes = writes or texts[0].strip() in (">", ">>", "+<", "+>")
        for text in texts[:2]:
            mode = re.match(r"\s*(\+?[<>]{1,2}|\|)\s*(.+)", text, re.DOTALL)
            path = mode.group(2) if mode else text
            if path[:1] not in ("/", "~", HOME):
                continue
            path = home(path.strip())
            if writes or (mode and ">" in mode.group(1)):
                effects.write(machine, inv, path)
            else:
                effects.read(machine, inv, path)

    def spawned(self, texts: list[str], is_list: bool) -> Steps[None]:
        """Text for a shell, or an argument vector."""
        machine, inv = self.machine, self.inv
        if not is_list and len(texts) == 1:
            yield from self.shell(texts[0])
            return
        yield from call(machine.dispatch(machine, inv.inner([home(text) for text in texts], _nothing())))
        if " " in texts[0]:
            yield from self.shell(texts[0])

    def shell(self, text: str) -> Steps[None]:
        complete = self.machine.complete
        yield from self.machine.code(
            text.replace(HOME, self.machine.home), self.inv.state.copy(), _nothing(), self.inv.span
        )
        self.machine.complete = complete


def _nothing() -> Stream:
    return Stream("")
