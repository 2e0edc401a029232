"""The two prompts: one to write a message, one to answer a card. Only one of them is open at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style

from echo_bot.channel import Command
from echo_bot.text.language import _

MARK = "› "
_STYLE = Style.from_dict(
    {
        "mark": "bold fg:ansigreen",
        "ask": "bold fg:ansiyellow",
        "key": "bold underline",
        "faint": "fg:ansibrightblack",
        "busy": "fg:ansicyan",
        "warn": "bold fg:ansiyellow",
    }
)

Fragments = Callable[[], StyleAndTextTuples]


class Interrupted(Exception):
    """The prompt was taken away. Whatever had been written is in `Prompts.draft`."""


class Leave(Exception):
    """The person wants to leave."""


class CommandCompleter(Completer):
    """Completes `/command` at the beginning of a message."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._commands = tuple(commands)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        word = document.text_before_cursor
        if not word.startswith("/") or " " in word or "\n" in word:
            return
        for command in self._commands:
            if command.name.startswith(word[1:].lower()):
                yield Completion(
                    f"/{command.name}" + (" " if command.usage else ""),
                    start_position=-len(word),
                    display=f"/{command.name} {command.usage}".rstrip(),
                    display_meta=command.description,
                )


class Prompts:
    """`on_cancel` is told of Ctrl-C on an empty line; `above` is asked at every redraw."""

    def __init__(
        self,
        source: Input,
        output: Output,
        commands: Iterable[Command],
        *,
        above: Fragments,
        on_cancel: Callable[[], None],
        monotonic: Callable[[], float],
    ) -> None:
        self.draft = ""
        self._above, self._on_cancel, self._monotonic = above, on_cancel, monotonic
        self._question: StyleAndTextTuples = []
        self._last_key = float("-inf")
        words = _("Write a message, or / for commands. Ctrl-D stops.")
        placeholder: StyleAndTextTuples = [("class:faint", words)]
        self._chat = self._session(source, output, self._chat_mark, CommandCompleter(commands), placeholder)
        self._answer = self._session(source, output, self._answer_mark, None, [])
        self._chat.app.key_processor.before_key_press += lambda processor: self._note_key()

    async def message(self) -> str:
        """One message; it may have several lines. Raises Interrupted or Leave."""
        default, self.draft = self.draft, ""
        try:
            return await self._ask(self._chat, default)
        except Interrupted:
            self.draft = self._chat.default_buffer.text
            raise

    async def answer(self, question: StyleAndTextTuples, begin_with: str = "") -> str:
        """The words to a question, which may begin with some. Raises Interrupted or Leave."""
        self._question = question
        return await self._ask(self._answer, begin_with)

    def interrupt(self) -> None:
        """Take the open prompt away, if there is one, and leave nothing of it on the screen."""
        for session in (self._chat, self._answer):
            _take_away(session)

    def interrupt_answer(self) -> None:
        """Take the prompt of a card away; a message that is being written stays."""
        _take_away(self._answer)

    def redraw(self) -> None:
        for session in (self._chat, self._answer):
            if session.app.is_running:
                session.app.invalidate()

    def seconds_since_key(self) -> float:
        """How long ago a key was pressed while a message was written."""
        return self._monotonic() - self._last_key

    async def _ask(self, session: PromptSession[str], default: str = "") -> str:
        session.app.erase_when_done = False
        return await session.prompt_async(
            default=default,
            # The run verb owns SIGINT; in the prompt Ctrl-C is a key.
            handle_sigint=False,
            set_exception_handler=False,
        )

    def _chat_mark(self) -> StyleAndTextTuples:
        above = [] if get_app().is_done else self._above()
        return [*above, ("class:mark", MARK)]

    def _answer_mark(self) -> StyleAndTextTuples:
        """Once answered, only the answer stays in the scrollback."""
        if get_app().is_done:
            return [("class:ask", MARK)]
        return [*self._above(), *self._question]

    def _note_key(self) -> None:
        self._last_key = self._monotonic()

    def _session(
        self,
        source: Input,
        output: Output,
        mark: Fragments,
        completer: Completer | None,
        placeholder: StyleAndTextTuples,
    ) -> PromptSession[str]:
        session: PromptSession[str] = PromptSession(
            mark,
            style=_STYLE,
            input=source,
            output=output,
            history=InMemoryHistory(),
            completer=completer,
            complete_while_typing=Condition(lambda: get_app().current_buffer.text.startswith("/")),
            placeholder=placeholder,
            prompt_continuation=lambda width, line, soft: "" if soft else " " * width,
            key_bindings=self._bindings(),
        )
        return session

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        is_blank = Condition(lambda: not get_app().current_buffer.text.strip())

        @bindings.add("enter", filter=is_blank)
        def nothing(event: KeyPressEvent) -> None:
            event.current_buffer.reset()

        @bindings.add("escape", "enter")
        def new_line(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @bindings.add("c-c")
        def cancel(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.reset()
            else:
                self._on_cancel()

        @bindings.add("c-z")
        def stay(event: KeyPressEvent) -> None:
            """A bot that is suspended answers nobody, and the character belongs into no message."""

        @bindings.add("c-d")
        def leave(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.delete()
            else:
                event.app.erase_when_done = True
                event.app.exit(exception=Leave)

        return bindings


def _take_away(session: PromptSession[str]) -> None:
    if session.app.is_running and not session.app.is_done:
        session.app.erase_when_done = True
        session.app.exit(exception=Interrupted)
