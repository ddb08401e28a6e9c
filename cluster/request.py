"""What a front looks at in a request's body before it hands it on: a seed, and how the prompt begins. Everything else is read, or
refused, by the replica."""

import json
import secrets
from typing import NamedTuple

BEGINNING = 256
"""Letters by which a beginning is known: about 64 tokens."""


class Looked(NamedTuple):
    """A body, and what was seen in it."""

    body: bytes
    beginning: str
    stream: bool


def look(body):
    """Gives a request a seed if it has none, so that whoever answers it again gives the same answer. What is no JSON object stays as
    it is: the replica says what is wrong with it."""
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
            # All other bytes stay: the order of a schema's keys counts, and so does how a number was written.
            start = body.index(b"{") + 1
            body = body[:start] + b'"seed":%d,' % seed + body[start:]
    return Looked(body, beginning(asked), asked.get("stream") is True)


def beginning(asked):
    """The first letters of the conversation or text."""
    text = asked.get("prompt", "")
    if isinstance(asked.get("messages"), list):
        text = json.dumps(asked["messages"], ensure_ascii=False)
    elif isinstance(text, list):
        text = json.dumps(text[:BEGINNING])
    return text[:BEGINNING] if isinstance(text, str) else ""


class Resumed:
    """Server-sent events that go on where another replica stopped.

    An answer is the same whoever computes it, so its events are, too, but for the names that its replica gave it. Those of several
    answers to one request may come in another order, so each has a count of its own."""

    def __init__(self):
        self.sent = {}
        self.first = None
        self.buffer = b""
        self.skip = {}

    def again(self):
        """Another replica answers from the start."""
        self.buffer, self.skip = b"", {choice: list(sent) for choice, sent in self.sent.items()}

    def take(self, data):
        """The events of these bytes that are new, each as a client gets it.

        Raises `Cut` if the replica ended the answer because it is going away, and `Differs` if an event is not what was sent."""
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
    """The replica is going away."""


class Differs(Exception):
    """Another replica's answer is not the one that was begun."""


def is_leaving(said):
    """Whether an error says that another replica may answer."""
    return said.get("error", {}).get("code") in ("shutting_down", "engine_failed")


def without_names(delta):
    """A call of a tool has a name of its replica's."""
    calls = (delta or {}).get("tool_calls")
    return delta if calls is None else {**delta, "tool_calls": [{**call, "id": None} for call in calls]}
