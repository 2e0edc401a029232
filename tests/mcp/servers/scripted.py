"""An MCP server of bare JSON lines that does what a file tells it, good or bad. Uses no library.

`scripted.py FOLDER`: FOLDER/script.json holds {"tools": […], "start": …}; what happens is noted in
FOLDER/log.jsonl, a line each. The script is read anew for every request.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_WRITING = threading.Lock()
_ANSWERS: dict[str, Any] = {}
_CANCELLED: set[object] = set()


def script() -> dict[str, Any]:
    return dict(json.loads((FOLDER / "script.json").read_text()))


def note(what: str, **more: object) -> None:
    with (FOLDER / "log.jsonl").open("a") as file:
        file.write(json.dumps({"what": what, **more}) + "\n")


def send(message: dict[str, Any]) -> None:
    with _WRITING:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def ask(method: str, params: dict[str, Any]) -> Any:
    """A request of the server's own, and what the client says to it."""
    send({"id": f"ask-{method}", "method": method, "params": params})
    for _ in range(500):
        if f"ask-{method}" in _ANSWERS:
            return _ANSWERS[f"ask-{method}"]
        time.sleep(0.02)
    return "no answer"


def text(said: str, **more: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def call(request_id: object, name: str, args: dict[str, Any]) -> dict[str, Any] | None:
    note("call", tool=name, args=args)
    match name:
        case "slow":
            while request_id not in _CANCELLED:
                time.sleep(0.02)
            return None
        case "crash":
            os._exit(3)
        case "huge":
            return text("x" * int(args.get("size", 50_000)))
        case "environment":
            return text(json.dumps(dict(os.environ)))
        case "folder":
            return text(os.getcwd())
        case "fails":
            return text("it went wrong", isError=True)
        case "picture":
            image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
            return {"content": [{"type": "text", "text": "a dot"}, image, {**image, "data": "%%%"}]}
        case "structured":
            return {"content": [], "structuredContent": {"answer": 42}}
        case "asks":
            message = {"role": "user", "content": {"type": "text", "text": "say yes"}}
            answers = {
                "sampling": ask("sampling/createMessage", {"messages": [message], "maxTokens": 5}),
                "elicitation": ask(
                    "elicitation/create",
                    {"message": "password?", "requestedSchema": {"type": "object", "properties": {}}},
                ),
                "roots": ask("roots/list", {}),
            }
            return text(json.dumps(answers))
        case "floods":
            for number in range(100_000):
                params = {"level": "info", "data": f"{number}"}
                send({"method": "notifications/message", "params": params})
            return text("flooded")
        case "changes":
            send({"method": "notifications/tools/list_changed"})
            return text("changed")
        case _:
            return text(f"{name} {json.dumps(args, sort_keys=True)}")


def answer(request: dict[str, Any]) -> None:
    request_id, method = request["id"], request["method"]
    params = request.get("params") or {}
    if method == "initialize":
        result: dict[str, Any] | None = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "scripted", "version": "1"},
        }
        note("initialize", capabilities=params.get("capabilities"))
    elif method == "tools/list":
        note("list")
        result = {"tools": script()["tools"]}
    elif method == "tools/call":
        result = call(request_id, params["name"], params.get("arguments") or {})
    else:
        send({"id": request_id, "error": {"code": -32601, "message": f"no method {method}"}})
        return
    if result is not None:
        send({"id": request_id, "result": result})


def main() -> None:
    start = script().get("start", "")
    note("start", pid=os.getpid())
    if start == "exits":
        sys.stderr.write(f"cannot start: {os.environ.get('TOKEN', 'no token')}\n")
        sys.exit(7)
    if start == "silent":
        time.sleep(600)
    if start == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if start == "child":
        child = os.fork()
        if child == 0:
            os.setsid()
            note("child", pid=os.getpid())
            time.sleep(600)
    sys.stdout.write("hello, this is no JSON\n")
    for line in sys.stdin:
        message = json.loads(line)
        if "method" in message and "id" in message:
            threading.Thread(target=answer, args=(message,), daemon=True).start()
        elif "method" not in message:
            _ANSWERS[message["id"]] = message.get("error") or message.get("result")
        elif message["method"] == "notifications/cancelled":
            note("cancelled")
            _CANCELLED.add(message["params"]["requestId"])
    note("input ended")
    if start == "stubborn":
        time.sleep(600)


main()
