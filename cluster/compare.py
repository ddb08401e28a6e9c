"""Compares predictions of `cargo llm simulate` with measurements of replicas on this machine.

    cargo build --release --features cli,reference
    python -m cluster.compare --replicas 1,2
"""

import argparse
import http.client
import json
import os
import random
import re
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import ray
from ray import serve

from . import HERE, ROOT
from .app import Options, app
from .request import BEGINNING, look
from .routing import draw

MODEL = ROOT / "models/tiny-story"
PORT = 8342
PAGES = 112
BATCH = 8


class Figures(NamedTuple):
    """Results of one run."""

    hits: float
    prompt_tokens: int
    tokens_per_second: float
    first_token_s: tuple


def load(requests, beginnings, rate, new=16, seed=1):
    """Returns requests that arrive as a Poisson process, sorted by time, with the fields that `simulate --trace` reads.

    Each prompt begins with one of `beginnings` shared texts.
    """
    rng = random.Random(seed)
    lines = (ROOT / "models/eval/stories.jsonl").read_text(encoding="utf-8").splitlines()
    stories = [json.loads(line)["text"] for line in lines]
    shared = [" ".join(stories[number : number + 6])[:1000] for number in range(beginnings)]
    now, found = 0.0, []
    for number in range(requests):
        own = stories[-1 - number % 20][: 20 + number % 17]
        found.append({"time": now, "prompt": f"{rng.choice(shared)} {number} {own}", "max_tokens": new})
        now += rng.expovariate(rate)
    return found


def simulated(load, replicas, routing, cost, program):
    """Simulates `load` with the scheduler, pages and routing of real replicas, but without a model."""
    trace = Path(os.environ.get("TMPDIR", "/tmp")) / f"cluster-{os.getpid()}.jsonl"
    trace.write_text("".join(json.dumps(request) + "\n" for request in load))
    command = [program, "simulate", "--json", "--trace", trace, "--model", MODEL] if cost is None else [program, "simulate", "--json", "--trace", trace, "--cost", cost]
    command += ["--replicas", replicas, "--routing", routing, "--pages", PAGES, "--share-prefixes", "--max-batch", BATCH, "-c", 512, "--gap", 3]
    try:
        finished = subprocess.run([str(word) for word in command + (["-j", 1] if cost is None else [])], capture_output=True, text=True, check=True)
    finally:
        trace.unlink()
    found = json.loads(finished.stdout)
    first = found["first_token_s"]
    return Figures(found["attached"] / found["prompt_tokens"], found["prompt_tokens"], found["tokens_per_second"], (first["median"], first["p99"]))


def homes(load, address):
    """Splits `load` by the running replica to which prefix routing sends each request if none is busy. Returns one load per replica."""
    names = sorted(set(re.findall(r'^tiny_llm_replica\{replica="(\w+)"', metrics(address), re.M)))
    at_home = {name: [] for name in names}
    for request in load:
        key = look(json.dumps(request).encode()).beginning
        at_home[max(names, key=lambda name: draw(key, name))].append(request)
    return list(at_home.values())


def simulated_homes(loads, cost, program):
    """Simulates one replica for each load. Returns the share of all prompt tokens that were found in the cache."""
    all_figures = [simulated(load, 1, "round-robin", cost, program) for load in loads if load]
    return sum(one.hits * one.prompt_tokens for one in all_figures) / sum(one.prompt_tokens for one in all_figures)


def beginnings(load):
    """Returns the number of different beginnings of the prompts in `load`."""
    return len({request["prompt"][:BEGINNING] for request in load})


def cost(program):
    """Measures the cost of a step on this machine with `simulate`. Returns the value for `--cost` and the message of `simulate`."""
    command = [program, "simulate", "--model", MODEL, "-j", 1, "--requests", 1]
    finished = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return re.search(r"--cost (\S+?);", finished.stderr)[1], finished.stderr.strip()


def options(replicas, routing, cpus=1.0):
    engine = {"threads": 1, "pages": PAGES, "share_prefixes": True, "context": 512}
    return Options(model=str(MODEL), replicas=replicas, routing=routing, max_batch=BATCH, max_queue=4096, cpus=cpus, engine=engine)


def measured(load, address, at_most=None):
    """Sends each request at its time and measures the answers. With `at_most`, ignores the times and keeps that many requests open."""
    start = time.monotonic()
    host, port = address.removeprefix("http://").split(":")

    def first_token(request):
        """Sends a request, reads its whole answer, and returns the seconds to the first token."""
        if at_most is None:
            time.sleep(max(0.0, start + request["time"] - time.monotonic()))
        asked = start + request["time"] if at_most is None else time.monotonic()
        body = {"model": "m", "prompt": request["prompt"], "max_tokens": request["max_tokens"], "temperature": 0, "stream": True}
        connection = http.client.HTTPConnection(host, int(port), timeout=300)
        connection.request("POST", "/v1/completions", json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        times = []
        for line in answer:
            if line.startswith(b"data: {"):
                assert b'"error"' not in line, line
                times.append(time.monotonic())
        connection.close()
        return times[0] - asked

    with ThreadPoolExecutor(at_most or len(load)) as pool:
        firsts = list(pool.map(first_token, load))
    seconds = time.monotonic() - start
    found, asked = totals(address, len(load))
    return Figures(found / asked, int(asked), sum(request["max_tokens"] for request in load) / seconds, (quantile(firsts, 0.5), quantile(firsts, 0.99)))


def totals(address, requests):
    """Waits until the metrics are stable. Returns how many prompt tokens were found in a cache, and how many there were."""
    last = None
    for _ in range(100):
        text = metrics(address)
        figure = lambda name: sum(float(value) for value in re.findall(rf"^tiny_llm_{name}_total\{{.*\}} (\S+)$", text, re.M))
        now = figure("prefix_tokens_found"), figure("prompt_tokens")
        # Replicas report every half second and no request is open, so equal totals five seconds apart are final.
        if now == last and now[1]:
            return now
        last = now
        time.sleep(5)
    raise RuntimeError("the replicas' metrics change every time")


def metrics(address):
    """Returns the text of all replicas' metrics, from the front at `address`."""
    with urllib.request.urlopen(f"{address}/metrics", timeout=60) as answer:
        return answer.read().decode()


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def main():
    parser = argparse.ArgumentParser(prog="python -m cluster.compare", description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/tiny-llm", help="command line built with the reference (default: target/release/tiny-llm)")
    parser.add_argument("--replicas", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2], help="numbers of replicas, separated by commas (default: 1,2)")
    parser.add_argument("--requests", type=int, default=300, help="number of requests (default: 300)")
    parser.add_argument("--beginnings", type=int, default=24, help="number of shared prefixes (default: 24)")
    parser.add_argument("--rate", type=float, default=8.0, help="requests per second (default: 8)")
    parser.add_argument("--cost", help="cost of a step, as for `simulate --cost` (default: measured here)")
    args = parser.parse_args()

    step, said = (args.cost, f"--cost {args.cost}") if args.cost else cost(args.program)
    print(said)
    ray.init(num_cpus=1 + max(args.replicas), include_dashboard=False, log_to_driver=False, runtime_env=HERE)
    serve.start(http_options={"host": "127.0.0.1", "port": PORT})
    print(f"{args.requests} requests, {args.rate} a second, {args.beginnings} shared prefixes, {PAGES} pages in each replica; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"{'':<10} {'replicas':>8} {'routing':<12} {'hits':>6} {'tokens/s':>9} {'first token, ms':>16}")
    sent = load(args.requests, args.beginnings, args.rate)
    for replicas in args.replicas:
        for routing in ["round-robin", "prefix"][: 1 + (replicas > 1)]:
            show("simulated", replicas, routing, simulated(sent, replicas, routing, step, args.program))
            serve.run(app(options(replicas, routing)), name="tiny-llm", route_prefix="/")
            address = f"http://127.0.0.1:{PORT}"
            figures = measured(sent, address)
            if routing == "prefix":
                # Replicas have random names, which determine the prefixes that each is the home of.
                own = homes(sent, address)
                hits = simulated_homes(own, step, args.program)
                print(f"simulated with the same home replicas ({' and '.join(str(beginnings(load)) for load in own)} prefixes): {100 * hits:.0f} % hits")
            show("measured", replicas, routing, figures)
            serve.delete("tiny-llm")
    serve.shutdown()
    ray.shutdown()


def show(kind, replicas, routing, figures):
    first = " / ".join(f"{1e3 * seconds:.0f}" for seconds in figures.first_token_s)
    print(f"{kind:<10} {replicas:>8} {routing:<12} {100 * figures.hits:>4.0f} % {figures.tokens_per_second:>9.1f} {first:>16}", flush=True)


if __name__ == "__main__":
    main()
