"""Tests how a front handles requests and interrupted answers, without a cluster."""

import asyncio
import json

import pytest

from cluster.request import Cut, Differs, Resumed, is_leaving, look
from cluster.routing import draw


def test_look_adds_a_missing_seed_and_changes_nothing_else():
    body = b' {"prompt": "a",  "schema": {"b": 1.50, "a": 2}}'
    looked = look(body)
    request = json.loads(looked.body)
    assert request.pop("seed") >= 0 and request == json.loads(body)
    assert looked.body.endswith(b'"prompt": "a",  "schema": {"b": 1.50, "a": 2}}')
    assert look(body).body != looked.body, "each gets one of its own"
    given = b'{"seed": 5, "stream": true, "prompt": "a"}'
    assert look(given) == (given, "a", True)
    assert json.loads(look(b'{"seed": null}').body)["seed"] is not None
    assert json.loads(look(b"{}").body)["seed"] is not None


@pytest.mark.parametrize("body", [b"", b"[1]", b"{", b"null", b"\xff", b'"text"'])
def test_look_leaves_invalid_requests_unchanged(body):
    assert look(body).body == body


def test_beginnings():
    system = {"role": "system", "content": "x" * 300}
    one, other = ({"messages": [system, {"role": "user", "content": text}]} for text in "ab")
    assert look(json.dumps(one).encode()).beginning == look(json.dumps(other).encode()).beginning != ""
    assert look(b'{"prompt": "abc"}').beginning == "abc"
    assert look(b'{"prompt": [1, 2]}').beginning == "[1, 2]"
    assert look(b'{"prompt": 7}').beginning == ""


def test_home_of_a_key_is_independent_of_other_replicas():
    replicas = ["a", "b", "c"]
    home = lambda key, among: max(among, key=lambda replica: draw(key, replica))
    homes = {key: home(key, replicas) for key in map(str, range(300))}
    assert all(70 < list(homes.values()).count(replica) < 130 for replica in replicas)
    assert all(home(key, "ab") == before for key, before in homes.items() if before != "c")


def event(text, choice=0, id="one", **more):
    return b"data: " + json.dumps({"id": id, "created": 1, "choices": [{"index": choice, "text": text}], **more}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def texts(events):
    found = {}
    for one in events:
        if one == DONE:
            continue
        said = json.loads(one.removeprefix(b"data: "))
        assert said["id"] == "one", "all are one answer"
        for choice in said["choices"]:
            found[choice["index"]] = found.get(choice["index"], "") + choice["text"]
    return found


def test_resumes_an_answer_where_it_stopped():
    resumed = Resumed()
    # The third event is incomplete.
    got = list(resumed.take(event("a") + event("b", 1) + event("c")[:20]))
    resumed.again()
    again = event("b", 1, "two") + event("a", 0, "two") + event("c", 0, "two") + event("d", 1, "two") + DONE
    for at in range(0, len(again), 7):
        got += resumed.take(again[at : at + 7])
    assert texts(got) == {0: "ac", 1: "bd"}
    assert got[-1] == DONE


def test_rejects_a_continuation_that_differs():
    resumed = Resumed()
    list(resumed.take(event("a")))
    resumed.again()
    with pytest.raises(Differs):
        list(resumed.take(event("x", 0, "two")))


def test_raises_cut_if_the_replica_shuts_down():
    leaving = b'data: {"error": {"message": "m", "type": "server_error", "param": null, "code": "shutting_down"}}\n\n'
    with pytest.raises(Cut):
        list(Resumed().take(leaving))
    slow = leaving.replace(b"shutting_down", b"too_slow")
    assert list(Resumed().take(slow)) == [slow]
    # Another replica has the same weights, and would fail too.
    not_finite = leaving.replace(b"shutting_down", b"not_finite")
    assert list(Resumed().take(not_finite)) == [not_finite]
    assert not is_leaving(json.loads(not_finite.removeprefix(b"data: ")))


class Replicas:
    """A stand-in for a front. Each call of `ask` yields the parts in the next list of `answers`, and raises a part that is an exception."""

    def __init__(self, *answers):
        self.answers = list(answers)

    async def ask(self, call):
        for part in self.answers.pop(0):
            if isinstance(part, Exception):
                raise part
            yield part


@pytest.mark.parametrize("busy, attempts", [(1, 3), (3, 3)])
def test_stream_survives_full_replicas_or_ends_with_an_error(busy, attempts):
    from ray.exceptions import ActorUnavailableError
    from ray.serve.exceptions import BackPressureError

    from cluster.app import Front

    full = BackPressureError(num_queued_requests=1, max_queued_requests=1)
    other = [(200, []), event("a", 0, "two"), event("b", 0, "two"), DONE]
    replicas = Replicas(*[[full]] * busy, other)

    async def collected():
        first = Replicas([event("a"), ActorUnavailableError("gone", b"1" * 16)]).ask(None)
        return [piece async for piece in Front.events(replicas, None, first, attempts)]

    *events, last = asyncio.run(collected())
    if busy < attempts:
        assert texts(events) == {0: "ab"} and last == DONE
    else:
        assert texts(events) == {0: "a"}
        assert json.loads(last.removeprefix(b"data: "))["error"]["message"] == "BackPressureError"


def test_kubernetes_example_is_a_valid_application():
    import yaml
    from ray.serve.schema import ServeDeploySchema

    from cluster import ROOT
    from cluster.app import Options

    service = yaml.safe_load((ROOT / "cluster/kuberay.yaml").read_text())
    config = ServeDeploySchema(**yaml.safe_load(service["spec"]["serveConfigV2"]))
    [application] = config.applications
    assert application.import_path == "cluster.app:app"
    options = Options(**application.args)
    workers = service["spec"]["rayClusterConfig"]["workerGroupSpecs"][0]
    [container] = workers["template"]["spec"]["containers"]
    assert options.replicas is None and options.max_replicas <= workers["maxReplicas"]
    assert options.cpus <= float(container["resources"]["limits"]["cpu"])
