"""Tests the application on two nodes: its interface, answers whose replica is killed, and hits in the prefix cache."""

import json
import os
import re
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import openai
import pytest
import ray
from conftest import PORT
from ray import serve
from ray.util import list_named_actors

from cluster import compare
from cluster.app import app

WORDS = "cat dog hen fox owl pig cow bee ant bat".split()


def post(address, path, body, headers=()):
    """Posts `body`. Returns the status and the body of the answer."""
    request = urllib.request.Request(address + path, body, {"content-type": "application/json", **dict(headers)})
    try:
        with urllib.request.urlopen(request, timeout=900) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def completion(number, **more):
    asked = {"model": "tiny-story", "prompt": f"There was a {WORDS[number % 10]} who had {number}", "max_tokens": 40, "temperature": 0.8, "seed": number}
    return json.dumps({**asked, **more}).encode()


def text_of(answer):
    """Returns the text and the finish reason of each choice, of a streamed or complete answer."""
    if not answer.startswith(b"data: "):
        return [(choice["text"], choice["finish_reason"]) for choice in json.loads(answer)["choices"]]
    events = answer.decode().split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""], answer[-300:]
    said = [json.loads(event.removeprefix("data: ")) for event in events[:-2]]
    assert len({event["id"] for event in said}) == 1
    found = {}
    for event in said:
        for choice in event["choices"]:
            text, _ = found.get(choice["index"], ("", None))
            found[choice["index"]] = (text + choice["text"], choice["finish_reason"])
    return [found[index] for index in sorted(found)]


def replicas():
    """Returns the names of the Ray actors that run an engine."""
    return sorted(actor["name"] for actor in list_named_actors(all_namespaces=True) if "#replica#" in actor["name"])


def figures(address, name):
    """Returns the value of metric `name` for each replica that has reported it."""
    found = {}
    for line in compare.metrics(address).splitlines():
        if match := re.match(rf'{name}\{{replica="(\w+)"(,.*)?\}} (\S+)', line):
            found[match[1]] = found.get(match[1], 0) + float(match[3])
    return found


def settled(address, name, total):
    """Waits until metric `name` adds up to `total` over all replicas. Returns its value for each."""
    for _ in range(600):
        found = figures(address, name)
        if found and sum(found.values()) == total:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{name}: found {found}, expected {total} in all")


def test_interface_matches_the_server(served, alone):
    address = served()
    client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
    assert [model.id for model in client.models.list()] == ["tiny-story"]
    body = completion(1)
    status, answer = post(address, "/v1/completions", body)
    assert (status, text_of(answer)) == (200, text_of(alone("/v1/completions", body)))
    stream = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello"}], stream=True, max_tokens=12, temperature=0)
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    whole = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello"}], max_tokens=12, temperature=0)
    assert streamed == whole.choices[0].message.content != ""
    with pytest.raises(openai.BadRequestError) as refused:
        client.completions.create(model="m", prompt="a", logit_bias={"5": 1})
    assert (refused.value.param, refused.value.code) == ("logit_bias", "unsupported_parameter")
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="m", input="a")
    assert post(address, "/v1/completions", b"{" + b" " * (1 << 20))[0] == 413
    assert post(address, "/v1/completions", b"x", {"content-type": "text/plain"})[0] == 415


def test_replicas_map_the_file_and_run_on_two_nodes(served):
    address = served()
    settled(address, "tiny_llm_replica", 2)
    found = re.findall(r'tiny_llm_replica\{.*node="(\w+)",pid="(\d+)"', compare.metrics(address))
    assert len({node for node, _ in found}) == 2
    for _, pid in found:
        mapped = Path(f"/proc/{pid}/maps").read_text()
        assert "tiny-story/model.safetensors" in mapped, "it has a copy"


@pytest.mark.parametrize("when", [5, 40])
def test_a_killed_replica_neither_loses_nor_repeats_answers(served, alone, together, when):
    """Half of the requests stream, and some have several answers. The replica is killed while all of its slots are in use."""
    address = served(max_batch=8, routing="round-robin")
    bodies = [completion(number, stream=number % 2 == 0, n=1 + (number % 10 == 4)) for number in range(100)]
    done, lock, killed = [], threading.Lock(), []

    def ask(body):
        status, answer = post(address, "/v1/completions", body)
        with lock:
            done.append(status)
            if len(done) == when:
                victim = replicas()[0]
                killed.append(victim)
                ray.kill(ray.get_actor(victim, namespace="serve"), no_restart=True)
        return status, answer

    answers = together(ask, bodies, threads=24)
    assert killed and [status for status, _ in answers] == [200] * 100
    # A separate engine computes the expected answers.
    assert [text_of(answer) for _, answer in answers] == [text_of(alone("/v1/completions", body)) for body in bodies]


def test_a_disconnected_client_frees_its_slot(served):
    address = served(replicas=1)
    request = urllib.request.Request(address + "/v1/completions", completion(1, max_tokens=480, stream=True), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.readline()
    settled(address, "tiny_llm_requests_running", 0)
    assert sum(figures(address, "tiny_llm_new_tokens_total").values()) < 480


def test_a_long_queue_adds_a_replica(served, together):
    address = served(replicas=None, max_replicas=2, max_batch=2, scale_delay_s=0.1)
    assert len(replicas()) == 1
    enough = time.monotonic() + 900

    def ask(number):
        # Requests keep coming until another replica starts.
        if len(replicas()) > 1 or time.monotonic() > enough:
            return 200
        return post(address, "/v1/completions", completion(number, max_tokens=200))[0]

    assert set(together(ask, range(5000), threads=12)) == {200}
    assert len(replicas()) == 2, "the queue was long, but no replica was added"


def test_rejects_requests_while_the_queue_is_full(served, together):
    address = served(replicas=1, max_batch=1, max_queue=1)
    statuses = together(lambda number: post(address, "/v1/completions", completion(number, max_tokens=200)), range(16))
    kinds = {status for status, _ in statuses}
    assert kinds == {200, 429}
    refused = next(json.loads(answer) for status, answer in statuses if status == 429)
    assert refused["error"]["code"] == "queue_full"


def test_prefix_cache_hits_match_the_simulation(machines, capsys):
    """Compares measured and simulated cache hits for both routing policies. Asserts nothing about time."""
    program = Path(os.environ["TINY_LLM"]).resolve()
    sent = compare.load(requests=240, beginnings=24, rate=4.0, new=4)
    # The cost of a step when the server is not busy. Below, at most four requests are open.
    cost, address = "2,50,10", f"http://127.0.0.1:{PORT}"
    simulated, measured = {}, {}
    for routing in ("round-robin", "prefix"):
        simulated[routing] = compare.simulated(sent, 2, routing, cost, program).hits
        serve.run(app(compare.options(2, routing, cpus=1.5)), name="tiny-llm", route_prefix="/")
        measured[routing] = compare.measured(sent, address, at_most=4).hits
        if routing == "prefix":
            homes = compare.homes(sent, address)
        serve.delete("tiny-llm")
    # Homes are random, in the cluster and in the simulator, so replicas have different numbers of beginnings.
    drawn = compare.simulated_homes(homes, cost, program)
    numbers = " and ".join(str(compare.beginnings(load)) for load in homes)
    results = {"simulated": simulated, f"simulated with homes of {numbers}": {**simulated, "prefix": drawn}, "measured": measured}
    with capsys.disabled():
        for kind, hits in results.items():
            factor = hits["prefix"] / hits["round-robin"]
            print(f"\n{kind}: hits in turn {hits['round-robin']:.3f}, by prefix {hits['prefix']:.3f}, {factor:.2f} times as many", end="")
        print()
    assert len(homes) == 2 and measured["prefix"] > measured["round-robin"]
    factors = measured["prefix"] / measured["round-robin"], drawn / simulated["round-robin"]
    assert 0.85 < factors[0] / factors[1] < 1.18, factors
