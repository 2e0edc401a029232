"""The JSON Schema of every catalogue tool's parameters: the one source for tools, checks and the model."""

from __future__ import annotations

from collections.abc import Mapping

from echo_bot.policy.call import JsonValue

JsonSchema = dict[str, JsonValue]

MAX_COMMAND_BYTES = 100_000
"""UTF-8 bytes of a command line; JSON Schema counts characters, so `arguments.py` checks this by itself."""


def _text(description: str, **more: JsonValue) -> JsonSchema:
    return {"type": "string", "description": description, **more}


def _count(description: str, most: int | None = None) -> JsonSchema:
    bound: JsonSchema = {} if most is None else {"maximum": most}
    return {"type": "integer", "minimum": 0, **bound, "description": description}


def _choice(description: str, *values: str) -> JsonSchema:
    return {"type": "string", "enum": list(values), "description": description}


def _list(description: str, items: JsonSchema | None = None) -> JsonSchema:
    return {"type": "array", "description": description, **({"items": items} if items else {})}


def _strings(description: str) -> JsonSchema:
    return _list(description, {"type": "string"})


def _flag(description: str) -> JsonSchema:
    return {"type": "boolean", "description": description}


def _schema(required: str = "", *, extensible: bool = False, **properties: JsonSchema) -> JsonSchema:
    """An object schema; `required` lists names. `extensible` lets parameters pass that are not declared."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required.split()),
        "additionalProperties": extensible,
    }


_PATH = _text("Path, relative to the workspace or absolute")
_CWD = _text("Folder to start in; the workspace when absent")
_TIMEOUT = _count("Seconds after which the call is stopped")
_OFFSET = _count("First line, counted from 1")
_LIMIT = _count("How many lines at most")
_MAX_RESULTS = _count("How many results at most")
_TARGET = _text("Where to: here, owner, an alias of delivery.targets, or channel:chat")
_FILES = _strings("Paths of files to send along")

WORKFLOW_STEP: JsonSchema = {
    **_schema(
        "id",
        id=_text("Its name among the steps", pattern="^[A-Za-z0-9_-]{1,40}$"),
        tool=_text("The tool that it calls"),
        args={
            "type": "object",
            "description": 'The tool\'s arguments. {"$from": "a.output"} is the output of step a, and '
            "${a.output} puts it into a text; it is not quoted for a shell",
        },
        agent=_text("The goal of a worker"),
        tools=_strings("agent: the tools the worker may use"),
        context=_text("agent: what to know for it"),
        manual=_text("What a person does; it waits until advance"),
        needs=_strings("Steps that must end before"),
        when={
            "type": "object",
            "description": "Only if this holds: {step, is: ok | failed | skipped}, {step, contains: text}, "
            "{step, equals: text}, {all: [...]}, {any: [...]}, {not: ...}",
        },
        retries=_count("Further attempts when it fails", 5),
        retry_delay=_count("Seconds before each of them", 86_400),
        timeout=_count("tool: seconds that one attempt may run", 86_400),
        on_failure=_choice("Then end the workflow, or go on without it", "stop", "continue"),
    ),
    "anyOf": [{"required": ["tool"]}, {"required": ["agent"]}, {"required": ["manual"]}],
}

READING: Mapping[str, JsonSchema] = {
    "read_file": _schema("path", path=_PATH, offset=_OFFSET, limit=_LIMIT),
    "list_dir": _schema("path", path=_PATH, depth=_count("How many levels deep")),
    "search_files": _schema(
        "pattern",
        pattern=_text("A regular expression (content) or a glob (glob)"),
        mode=_choice("Search in contents or for names", "content", "glob"),
        path=_PATH,
        max_results=_MAX_RESULTS,
    ),
    "knowledge_search": _schema("query", query=_text("What to look for"), max_results=_MAX_RESULTS),
    "session_search": _schema(
        "query",
        query=_text("What to look for"),
        max_results=_MAX_RESULTS,
        role=_text("Only this role's words: user or assistant"),
        scope=_choice("Whose conversations: your own, or for admins everybody's", "own", "all"),
    ),
    "skills_list": _schema(),
    "skill_view": _schema("name", name=_text("The skill"), file_path=_text("A file inside the skill")),
    "web_fetch": _schema(
        "url", url=_text("An http or https address"), max_chars=_count("Characters at most")
    ),
    "web_search": _schema("query", query=_text("What to look for"), max_results=_MAX_RESULTS),
    "vision_analyze": _schema(
        "image prompt",
        image=_text("A workspace path, an attachment id or an address"),
        prompt=_text("What to find out"),
        model=_text("A vision model other than the configured one"),
    ),
    "read_spill": _schema(
        "path",
        path=_text("The spill path a tool named"),
        offset=_OFFSET,
        limit=_LIMIT,
        pattern=_text("Only lines that match this regular expression"),
    ),
}

WRITING: Mapping[str, JsonSchema] = {
    "write_file": _schema("path content", path=_PATH, content=_text("The whole new content")),
    "edit_file": _schema(
        "path old_string new_string",
        path=_PATH,
        old_string=_text("The text to replace, exactly as it stands"),
        new_string=_text("The text to put there"),
        replace_all=_flag("Replace every occurrence"),
    ),
    "patch": _schema("patch", path=_PATH, patch=_text("A unified diff or a V4A patch")),
    "knowledge_index": _schema(
        "action",
        action=_choice("What to do", "status", "rebuild"),
        paths=_strings("Files and folders to index"),
    ),
    "todo": _schema(
        "action",
        action=_text("What to do with the list"),
        items=_list("The entries"),
        id={"type": ["string", "integer"], "description": "One entry"},
        status=_text("The entry's new status"),
    ),
    "task": _schema(
        "action",
        action=_choice("What to do", "create", "list", "get", "start", "complete", "fail", "cancel", "retry"),
        id=_text("The task, for every action but create and list"),
        title=_text("create: what is to be done, in a few words"),
        notes=_text("create: what to know about it"),
        instruction=_text("create: what you are to do by yourself when start_at comes"),
        start_at=_text("create, start, retry: when it starts, such as 'in 20 minutes' or 2026-05-01 09:00"),
        result=_text("complete, fail: what it came to"),
        state=_choice("list: only these", "open", "started", "done", "failed", "cancelled"),
        all=_flag("list: everybody's, for admins"),
    ),
    "workflow": _schema(
        "action",
        action=_choice(
            "What to do", "create", "start", "status", "advance", "pause", "resume", "cancel", "list"
        ),
        name=_text("The workflow, by its name or id"),
        steps=_list("create: the steps, each with exactly one of tool, agent and manual", WORKFLOW_STEP),
        step=_text("advance: the manual step that was done"),
        outcome=_choice("advance: how it went; done when absent", "done", "failed"),
        note=_text("advance: what came of it, the step's output"),
        resume_at=_text("pause: when it goes on by itself, such as 'in 20 minutes'"),
        all=_flag("list: everybody's, for admins"),
    ),
    "notify": _schema("message", message=_text("The notice"), target=_TARGET, files=_FILES),
    "message": _schema("text", text=_text("The message"), target=_TARGET, files=_FILES),
    "clarify": _schema(
        "question", question=_text("What to ask"), options=_list("Answers to offer"), timeout=_TIMEOUT
    ),
    "memory": _schema(
        "action",
        action=_choice("What to do", "add", "replace", "remove", "search", "list"),
        content=_text("What to remember"),
        query=_text("What to look for"),
        target=_text("Which memory: user, environment, …"),
        id={"type": ["string", "integer"], "description": "The entry's number"},
        extensible=True,
    ),
    "image_generate": _schema(
        "prompt",
        prompt=_text("The image to make"),
        aspect=_text("square, landscape or portrait, or a ratio such as 16:9"),
    ),
    "text_to_speech": _schema(
        "text", text=_text("What to say"), voice=_text("The voice"), backend=_text("The speech service")
    ),
}

_TASK: JsonSchema = {
    "type": ["string", "object"],
    "properties": {
        "goal": _text("What this worker is to achieve"),
        "context": _text("What it must know for it"),
        "tools": _strings("The tools it may use"),
    },
    "required": ["goal"],
    "additionalProperties": False,
}

RUNNING: Mapping[str, JsonSchema] = {
    "exec": _schema(
        "command",
        command=_text(f"A bash command line, at most {MAX_COMMAND_BYTES:,} bytes"),
        cwd=_CWD,
        timeout=_TIMEOUT,
        env={
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Environment variables to set",
        },
    ),
    "execute_code": _schema(
        "code language",
        code=_text("The program"),
        language=_choice("Its language", "python", "javascript", "bash"),
        timeout=_TIMEOUT,
    ),
    "process": _schema(
        "action",
        action=_choice("What to do", "start", "list", "poll", "write", "signal", "stop"),
        command=_text("The command line to start"),
        process_id=_text("The process, as start named it"),
        text=_text("What to write to its standard input"),
        signal={"type": ["string", "integer"], "description": "The signal, by name or number"},
        cwd=_CWD,
    ),
    "skill_run": _schema(
        "name script",
        name=_text("The skill"),
        script=_text("A script of the skill"),
        args=_strings("Arguments for the script"),
        timeout=_TIMEOUT,
    ),
    "delegate_task": {
        **_schema(
            goal=_text("What the worker is to achieve"),
            tasks=_list("Several independent goals, one worker each", _TASK),
            tools=_strings("The tools the workers may use, of your own; all of them when absent"),
            max_turns=_count("Model turns of a worker at most"),
        ),
        "anyOf": [{"required": ["goal"]}, {"required": ["tasks"]}],
    },
    "spawn_task": _schema(
        "task", task=_text("What to do in the background"), context=_text("What to know for it")
    ),
}

LASTING: Mapping[str, JsonSchema] = {
    "cronjob": _schema(
        "action",
        action=_choice(
            "What to do",
            *("create", "list", "delete", "trigger", "authorize", "revoke", "update", "pause", "resume"),
        ),
        name=_text("The job"),
        schedule=_text(
            "When: a cron expression (0 8 * * 1-5), @daily, every 15 minutes, every day at 8:00, "
            "in 20 minutes, tomorrow 9:00, 2026-12-24 18:00"
        ),
        instruction=_text("What the job is to do: a task in words, or a direct call: /run ./backup.sh"),
        target=_TARGET,
        timezone=_text("The schedule's time zone, such as Europe/Berlin; the configured one when absent"),
    ),
    "skill_install": _schema(
        "source location",
        source=_choice("Where it comes from", "git", "local", "url"),
        location=_text("Its address or path"),
        ref=_text("Of a git repository: a branch, tag or commit; its default branch when absent"),
        path=_text("The skill's folder inside, where there are several"),
        replace=_flag("Put it in the place of the installed skill of that name"),
    ),
    "skill_manage": _schema(
        "action name",
        action=_text("create, list, remove, enable, disable, update or pin"),
        name=_text("The skill; for list a pattern such as *"),
        content=_text("For create: the text of its SKILL.md"),
    ),
}

FREE: JsonSchema = {"type": "object"}
"""A tool of somebody else's that declared no parameters of its own."""
