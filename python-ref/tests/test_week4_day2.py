"""Week 4, day 2: random graphs against PyTorch, their order, and models as graphs against week 2's engine."""

import numpy as np
import pytest
from live import close
from oracle.fixtures import relative_rounding
from test_week1_day5 import FAMILIES
from test_week2_day1 import model


def build(week4, r):
    """Returns a random graph of small numbers, and PyTorch's value of each node."""
    graph, known = week4.graph.Graph(), []

    def keep(node, value):
        while len(known) < node:
            known.append(None)
        known.append(value)

    for _ in range(2):
        x = r.integers(1, 1, r.size(1, 4), 3, high=5).float() - 2
        keep(graph.values(x), x.double())
    for _ in range(r.size(4, 14)):
        a, b = (r.choice(*[i for i, value in enumerate(known) if value is not None]) for _ in range(2))
        x, y = known[a], known[b]
        act = r.choice("values", "mul_mat", "mul_mat", "add", "add", "transposed", "reshape")
        if act == "values":
            new = r.integers(1, 1, r.size(1, 4), 3, high=5).float() - 2
            keep(graph.values(new), new.double())
        elif act == "transposed":
            keep(graph.transposed(a), x.transpose(-1, -2).contiguous())
        elif act == "reshape":
            keep(graph.reshape(a, [x.numel()]), x.reshape(1, 1, 1, -1))
        elif act == "mul_mat":
            if x.shape[-1] != y.shape[-1]:
                with pytest.raises(ValueError, match="mul_mat"):
                    graph.mul_mat(a, b)
            else:
                keep(graph.mul_mat(a, b), y @ x.transpose(-1, -2))
        elif all(n in (m, 1) for m, n in zip(x.shape, y.shape, strict=True)):
            keep(graph.add(a, b), x + y)
        else:
            with pytest.raises(ValueError, match="add"):
                graph.add(a, b)
    return graph, known


def test_week4_day2_task_1_sizes(week4, r):
    graph, known = build(week4, r)
    for node, value in enumerate(known):
        if value is not None:
            assert graph.layout(node).ne == list(value.shape[::-1])


def test_week4_day2_task_2_order(week4, r):
    graph, known = build(week4, r)
    order = graph.order(len(known) - 1)
    assert len(set(order)) == len(order) and order[-1] == len(known) - 1
    arrows = [line.strip(" ;").split(" -> ") for line in graph.dot(len(known) - 1).splitlines() if "->" in line]
    for source, node in ((int(a[1:]), int(b[1:])) for a, b in arrows):
        assert order.index(source) < order.index(node)
    assert {int(b[1:]) for _, b in arrows} <= set(order)


def test_week4_day2_task_3_computed_values(week4, r):
    graph, known = build(week4, r)
    expected = known[-1]
    size = max(1.0, *(value.abs().max().item() for value in known if value is not None))
    close(np.asarray(graph.compute(len(known) - 1)) / size, expected / size, relative_rounding(2000)._replace(relative=False))


@pytest.mark.parametrize("family", FAMILIES)
def test_week4_day2_task_4_models(week2, week4, r, family):
    """Compares the graphs' logits with those of week 2's engine, bit for bit, for random passes."""
    ours, config, _ = model(week2, r, family)
    sequences = r.size(1, 3)
    lengths, passes = [0] * sequences, []
    for _ in range(r.size(1, 6)):
        rows = []
        for _ in range(r.size(1, 5)):
            s = r.size(0, sequences - 1)
            token = r.integers(1, high=config["vocab_size"]).item()
            rows.append((token, lengths[s], s, r.choice(True, False)))
            lengths[s] += 1
        rows[-1] = (*rows[-1][:3], True)
        passes.append(rows)
    expected = np.asarray(ours.forward(passes, sequences))
    assert np.array_equal(np.asarray(week4.engine.forward(ours, passes, sequences)), expected)


def test_week4_day2_task_5_dot_has_every_node(week4, r):
    graph, known = build(week4, r)
    text, order = graph.dot(len(known) - 1), graph.order(len(known) - 1)
    assert text.count("label=") == len(order)
