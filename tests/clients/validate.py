"""Holds what the translation produces against the types of the official SDKs.

    validate.py FOLDER

FOLDER has one file for each kind of document, `<what>-<protocol>.jsonl`, with one JSON document a line: bodies sent to
upstreams, answers given to clients, and the events of streams. The tests of the translation write them.
"""

import json
import pathlib
import sys
import typing

# Pydantic checks an Iterable only when somebody walks through it; these are lists in JSON.
typing.Iterable = typing.List

import pydantic  # noqa: E402
from anthropic import types as claude  # noqa: E402
from anthropic.types import message_create_params  # noqa: E402
from openai.types import chat, responses  # noqa: E402
from openai.types.chat import completion_create_params  # noqa: E402
from openai.types.responses import response_create_params  # noqa: E402

TYPES = {
    "request-chat": completion_create_params.CompletionCreateParams,
    "request-responses": response_create_params.ResponseCreateParams,
    "request-claude": message_create_params.MessageCreateParams,
    "answer-chat": chat.ChatCompletion,
    "answer-responses": responses.Response,
    "answer-claude": claude.Message,
    "event-chat": chat.ChatCompletionChunk,
    "event-responses": responses.ResponseStreamEvent,
    "event-claude": claude.RawMessageStreamEvent,
}

# What vendors and clients agree on beside the SDKs.
KNOWN = {
    "answer-chat.choices[].message.reasoning_content",
    "event-chat.choices[].delta.reasoning_content",
    "event-chat.choices[].delta.annotations",
    # Earlier versions of the SDK want it.
    "event-responses.name",
}


def adapted(what, document):
    """The document without what servers take though the SDK's types do not, and with what they do not ask for."""
    if what == "request-claude":
        # The version that translated requests name has them; the newest SDK writes for a later one.
        for name in ("temperature", "top_p", "top_k"):
            document.pop(name, None)
    if what == "request-chat":
        for message in document["messages"]:
            message.pop("reasoning_content", None)
    if what == "request-responses" and isinstance(document.get("input"), list):
        for item in document["input"]:
            if item.get("role") == "assistant":
                # Neither Codex nor the AI SDK sends them with a history that is not stored.
                item.update({"id": "msg_1", "status": "completed"})
                for part in item["content"]:
                    if part["type"] == "output_text":
                        part.setdefault("annotations", [])
    return document


def strangers(value, path=""):
    """Members that the SDK's types do not know."""
    if isinstance(value, pydantic.BaseModel):
        for name in value.model_extra or {}:
            yield f"{path}.{name}"
        for name in value.model_fields_set:
            yield from strangers(getattr(value, name, None), f"{path}.{name}")
    elif isinstance(value, list):
        for entry in value:
            yield from strangers(entry, path + "[]")


def main(folder):
    seen, failed, unknown = 0, 0, set()
    for file in sorted(folder.glob("*.jsonl")):
        closed = {"config": {"extra": "forbid"}} if file.stem.startswith("request") else {}
        adapter = pydantic.TypeAdapter(TYPES[file.stem], **closed)
        for line in file.read_text().splitlines():
            seen += 1
            try:
                document = adapted(file.stem, json.loads(line))
                value = adapter.validate_json(json.dumps(document), strict=True)
            except pydantic.ValidationError as why:
                failed += 1
                print(f"{file.stem}: {line[:600]}\n    {str(why)[:1500]}")
                continue
            unknown.update(f"{file.stem}{path}" for path in set(strangers(value)))
    for path in sorted(unknown - KNOWN):
        failed += 1
        print(f"unknown to the SDK: {path}")
    print(f"{seen - failed} passed, {failed} failed")
    return failed or not seen


sys.exit(bool(main(pathlib.Path(sys.argv[1]))))
