"""Answers a file of requests on a cluster, with Ray Data (on one machine, use `cargo llm batch`).

    python -m cluster.batch requests.jsonl --out answers --replicas 2

The file is split into parts. Each part's answers have their own file, which is either complete or absent. After a stop, the same command
computes only the missing parts. At the end, all answers are in `answers.jsonl`, next to the folder, in the order of the requests. A replica
holds only one part in memory. All machines must have access to the folder.
"""

import argparse
import importlib
import json
import os
import shutil
import sys
from pathlib import Path

import ray

from . import HERE, ROOT, located

LINES = 256
"""Requests per part: many times the number of batch slots, so that few slots are empty at the end of a part."""


def parts(file, lines=LINES):
    """Returns, for each part of the file: the index of its first request, its start and length in bytes, and its number of requests."""
    found = []
    start = position = number = count = 0
    with open(file, "rb") as source:
        for line in source:
            position += len(line)
            count += 1
            if count == lines:
                found.append({"number": number, "start": start, "bytes": position - start, "requests": count})
                start, number, count = position, number + count, 0
    if count:
        found.append({"number": number, "start": start, "bytes": position - start, "requests": count})
    return found


class Answering:
    """Runs one engine, which answers parts of the file of requests."""

    def __init__(self, model, solution, options):
        self.engine = getattr(importlib.import_module("tiny_llm"), solution).Engine(model, max_queue=LINES, **options)

    def __call__(self, row):
        target = Path(row["target"])
        if not target.exists():
            with open(row["file"], "rb") as source:
                source.seek(row["start"])
                lines = source.read(row["bytes"]).splitlines()
            written = target.with_suffix(f".{os.getpid()}.unfinished")
            with open(written, "w", encoding="utf-8") as out:
                for line in self.answers(lines, row["number"]):
                    out.write(line + "\n")
                out.flush()
                os.fsync(out.fileno())
            os.replace(written, target)
        return {"number": row["number"], "requests": row["requests"]}

    def answers(self, lines, number):
        """Yields a line for each of `lines`, the first of which is request `number`. Submits all at once: the engine queues those beyond its slots."""
        asked = [self.ask(line, index) for index, line in enumerate(lines, number)]
        for index, answer in enumerate(asked, number):
            yield json.dumps({"index": index, **said(answer)}, ensure_ascii=False)

    def ask(self, line, index):
        try:
            asked = json.loads(line)
        except ValueError as error:
            return f"not JSON: {error}"
        if not isinstance(asked, dict) or ("prompt" in asked) == ("messages" in asked):
            return 'expected an object with either "prompt" or "messages"'
        if asked.get("stream"):
            return '"stream": a batch does not stream; omit it or set it to false'
        # The seed ensures that a request has the same answer if it is computed again after a stop.
        asked = {"model": "any", "seed": index, **asked}
        path = "/v1/chat/completions" if "messages" in asked else "/v1/completions"
        return self.engine.submit(path, json.dumps(asked).encode())


def said(answer):
    """Returns the fields of the output line for `answer`, an engine's answer or the text of an error."""
    if isinstance(answer, str):
        return {"error": answer}
    found = json.loads(answer.read())
    if "error" in found:
        return {"error": found["error"]["message"]}
    choices = [{**text(choice), "finish_reason": choice["finish_reason"]} for choice in found["choices"]]
    return {**(choices[0] if len(choices) == 1 else {"choices": choices}), "usage": found["usage"]}


def text(choice):
    """Returns the text and any tool calls of a choice, from a chat or a plain completion."""
    if "text" in choice:
        return {"text": choice["text"]}
    message = choice["message"]
    calls = {"tool_calls": message["tool_calls"]} if message.get("tool_calls") else {}
    return {"text": message["content"], **calls}


def answer(file, out, model, solution="reference", replicas=1, lines=LINES, engine=None):
    """Answers the parts of `file` that `out` lacks, then joins all parts. Returns the number of requests answered now, and of all requests."""
    file, out = Path(file).resolve(), Path(out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    rows = [{**part, "file": str(file), "target": str(out / f"part-{part['number']:012}.jsonl")} for part in parts(file, lines)]
    check(out, file, lines)
    missing = [row for row in rows if not Path(row["target"]).exists()]
    done = 0
    if missing:
        options = {"max_batch": 16, "threads": 1} | (engine or {})
        data = ray.data.from_items(missing, override_num_blocks=len(missing))
        data = data.map(Answering, fn_constructor_args=(str(model), solution, options), concurrency=replicas, num_cpus=1, max_restarts=-1, max_task_retries=-1)
        for row in data.iter_rows():
            done += row["requests"]
            print(f"\r{done} of {sum(row['requests'] for row in missing)} requests", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    whole = out.with_suffix(".jsonl")
    unfinished = whole.with_suffix(".jsonl.unfinished")
    with open(unfinished, "wb") as target:
        for row in rows:
            with open(row["target"], "rb") as source:
                shutil.copyfileobj(source, target)
    os.replace(unfinished, whole)
    # Removes the files of processes that stopped in the middle of a part.
    for rest in out.glob("*.unfinished"):
        rest.unlink(missing_ok=True)
    return done, sum(row["requests"] for row in rows)


def check(out, file, lines):
    """Exits if the folder has answers to another file, or if the file or the size of the parts has changed."""
    status = file.stat()
    now = {"file": str(file), "bytes": status.st_size, "changed": status.st_mtime_ns, "lines": lines}
    note = out / "requests.json"
    if note.exists() and json.loads(note.read_text()) != now:
        raise SystemExit(f"{out}: holds answers to another file, or to an earlier version of {file}; use an empty folder for --out")
    note.write_text(json.dumps(now))


def main():
    parser = argparse.ArgumentParser(prog="python -m cluster.batch", description=__doc__.splitlines()[0])
    parser.add_argument("requests", type=Path, help="file of requests, one JSON object per line: prompt or messages, max_tokens, …")
    parser.add_argument("--out", type=Path, required=True, help="folder for the partial answers (the complete file is OUT.jsonl)")
    parser.add_argument("--model", type=located, default=str(ROOT / "models/tiny-story"), help="folder, GGUF file or name (default: the embedded model)")
    parser.add_argument("--solution", choices=["reference", "student"], default="student", help="engine to run (default: student, your own)")
    parser.add_argument("--replicas", type=int, default=1, help="number of replicas (default: 1)")
    parser.add_argument("--address", help="address of a running cluster (default: start one here)")
    args = parser.parse_args()
    own = {} if args.address else {"num_cpus": max(args.replicas + 1, os.cpu_count() or 1), "include_dashboard": False}
    ray.init(args.address, log_to_driver=False, runtime_env=HERE, **own)
    done, of = answer(args.requests, args.out, args.model, args.solution, args.replicas)
    print(f"{args.out.with_suffix('.jsonl')}: {of} answers, {of - done} of them from an earlier run", file=sys.stderr)


if __name__ == "__main__":
    main()
