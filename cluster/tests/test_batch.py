"""Tests that Ray Data answers a file of requests."""

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from conftest import MODEL

from cluster import batch


@pytest.fixture
def requests(tmp_path):
    """Writes a file of forty requests. One is not JSON, one is unsupported, and two are conversations."""
    lines = [json.dumps({"prompt": f"Number {number} was a", "max_tokens": 12, "temperature": 0.7}) for number in range(40)]
    lines[7] = "{"
    lines[11] = json.dumps({"prompt": "a", "logit_bias": {"5": 1}})
    lines[20] = lines[31] = json.dumps({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 6, "temperature": 0})
    file = tmp_path / "requests.jsonl"
    file.write_text("\n".join(lines))
    return file


def test_parts_add_up_to_the_file(requests):
    for lines in (1, 7, 40, 64):
        found = batch.parts(requests, lines)
        whole = requests.read_bytes()
        assert b"".join(whole[part["start"] : part["start"] + part["bytes"]] for part in found) == whole
        assert [part["requests"] for part in found] == [min(lines, 40 - at) for at in range(0, 40, lines)]


def test_answers_each_request_and_resumes_unfinished_parts(machines, requests, tmp_path, alone):
    out = tmp_path / "answers"
    assert batch.answer(requests, out, MODEL, replicas=2, lines=8) == (40, 40)
    whole = out.with_suffix(".jsonl").read_bytes()
    answers = [json.loads(line) for line in whole.splitlines()]
    assert [answer["index"] for answer in answers] == list(range(40))
    assert "not JSON" in answers[7]["error"] and "logit_bias" in answers[11]["error"]
    assert answers[20]["text"] == answers[31]["text"] != ""
    body = {"model": "any", "seed": 5, **json.loads(requests.read_text().splitlines()[5])}
    expected = json.loads(alone("/v1/completions", json.dumps(body).encode()))["choices"][0]["text"]
    assert answers[5]["text"] == expected
    # Simulates a stop before the second and the fourth part were complete.
    for part in sorted(out.glob("part-*"))[1::2]:
        part.unlink()
    out.with_suffix(".jsonl").unlink()
    kept = {part: part.stat().st_mtime_ns for part in out.glob("part-*")}
    # Simulates a process that stopped while it wrote the second part.
    (out / "part-000000000008.99.unfinished").write_text('{"index": 8')
    assert batch.answer(requests, out, MODEL, replicas=1, lines=8) == (16, 40)
    assert out.with_suffix(".jsonl").read_bytes() == whole
    assert not any(out.glob("*.unfinished"))
    assert all(part.stat().st_mtime_ns == before for part, before in kept.items())
    requests.write_text(requests.read_text() + "\n{}")
    with pytest.raises(SystemExit, match="another file"):
        batch.answer(requests, out, MODEL, lines=8)


def engines():
    """Yields the ids of other processes that map the model."""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            if str(MODEL) in maps.read_text() and int(maps.parent.name) != os.getpid():
                yield int(maps.parent.name)
        except OSError:
            continue


def test_replaces_a_killed_engine(machines, tmp_path):
    requests, out = tmp_path / "requests.jsonl", tmp_path / "answers"
    requests.write_text("".join(json.dumps({"prompt": f"Once {number}", "max_tokens": 60, "seed": 1}) + "\n" for number in range(64)))
    killed = []

    def kill():
        while not any(out.glob("part-*")):
            time.sleep(0.02)
        for pid in engines():
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)
            return

    thread = threading.Thread(target=kill)
    thread.start()
    assert batch.answer(requests, out, MODEL, replicas=2, lines=4) == (64, 64)
    thread.join()
    assert killed
    answers = [json.loads(line) for line in out.with_suffix(".jsonl").read_bytes().splitlines()]
    assert [answer["index"] for answer in answers] == list(range(64))
    assert all(answer["usage"]["completion_tokens"] for answer in answers)
