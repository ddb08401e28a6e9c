"""Reads what a front needs from a request's body, and resumes interrupted answers. The replica reads and validates the rest."""

import json
import secrets
from typing import NamedTuple

BEGINNING = 256
"""Number of first characters of a prompt that determine its home replica, about 64 tokens."""


class Looked(NamedTuple):
    """A request's body, and what `look` read from it."""

    body: bytes
    beginning: str
    stream: bool


def look(body):
    """Reads a request's body. Adds a seed if it has none, so that another replica computes the same answer. Returns a body that is not
    a JSON object unchanged, for the replica to reject."""
    try:
        asked = json.loads(body)
    except ValueError:
        return Looked(body, "", False)
    if not isinstance(asked, dict):
        return Looked(body, "", False)
    if asked.get("seed") is None:
        seed = secrets.randbits(63)
        if "seed" in asked or not asked:
            body = json.dumps({**asked, "seed": seed}).encode()
        else:
            # Inserts the seed and keeps all other bytes, because the order of a schema's keys and the notation of numbers matter.
            start = body.index(b"{") + 1
            body = body[:start] + b'"seed":%d,' % seed + body[start:]
    return Looked(body, beginning(asked), asked.get("stream") is True)


def beginning(asked):
    """Returns the first `BEGINNING` characters of a request's messages, text or tokens. Messages and tokens are in JSON."""
    text = asked.get("prompt", "")
    if isinstance(asked.get("messages"), list):
        text = json.dumps(asked["messages"], ensure_ascii=False)
    elif isinstance(text, list):
        text = json.dumps(text[:BEGINNING])
    return text[:BEGINNING] if isinstance(text, str) else ""


class Resumed:
    """Continues a stream of server-sent events where another replica stopped.

    All replicas compute the same answer and send the same events, except for ids and times. The events of several answers to one
    request may arrive in another order, so each answer has its own list of sent events."""

    def __init__(self):
        self.sent = {}
        self.first = None
        self.buffer = b""
        self.skip = {}

    def again(self):
        """Prepares for the stream of another replica, which begins with the events that were already sent."""
        self.buffer, self.skip = b"", {choice: list(sent) for choice, sent in self.sent.items()}

    def take(self, data):
        """Reads `data`, bytes of a replica's stream. Yields the complete events that were not sent yet, in the form that the client receives.

        Raises `Cut` if the replica has failed or is shutting down, and `Differs` if an event differs from what was sent."""
        self.buffer += data
        *events, self.buffer = self.buffer.split(b"\n\n")
        for event in events:
            if new := self.one(event):
                yield new + b"\n\n"

    def one(self, event):
        text = event.removeprefix(b"data: ")
        if text == b"[DONE]":
            return event
        said = json.loads(text)
        if "error" in said:
            if is_leaving(said):
                raise Cut
            return event
        if self.first is None:
            self.first = {name: said[name] for name in ("id", "created")}
        for choice in said["choices"]:
            content = json.dumps({**choice, "delta": without_names(choice.get("delta"))})
            if waiting := self.skip.get(choice["index"]):
                if waiting.pop(0) != content:
                    raise Differs
                return None
            self.sent.setdefault(choice["index"], []).append(content)
        if said["id"] == self.first["id"]:
            return event
        return b"data: " + json.dumps({**said, **self.first}, ensure_ascii=False).encode()


class Cut(Exception):
    """The replica has failed or is shutting down."""


class Differs(Exception):
    """Another replica's answer differs from the part that was already sent."""


def is_leaving(said):
    """Returns whether `said` is an error of a replica that failed or is shutting down. Another replica may then answer."""
    return said.get("error", {}).get("code") in ("shutting_down", "engine_failed")


def without_names(delta):
    """Returns a delta without the ids of its tool calls, which differ between replicas."""
    calls = (delta or {}).get("tool_calls")
    return delta if calls is None else {**delta, "tool_calls": [{**call, "id": None} for call in calls]}
