"""Week 4, day 2: the compute graph.

A graph's result must be what PyTorch computes for the same expression, whatever the order of the nodes. There are small graphs of
products and sums, and whole models. These must have the logits of week 1's decoder, which week 2, day 1 compares with transformers'.
"""

import torch

from oracle.fixtures import rounding
from oracle.week1_day5 import decoder, draw_model
from oracle.week2_day1 import MODELS, draw_biases, roundings, walk


def product(a, b):
    """Computes ggml's product, in PyTorch's order: `a [M, K]`, `b [N, K]` → `[N, M]`."""
    return b @ a.T


def guide(a, b):
    """Computes `Aᵀ(AB)` as the book builds it."""
    return product(a.T.contiguous(), product(a, b))


def shared(x, y, w):
    """Computes an expression with a node that several others read, and one that reads the same node twice."""
    s = x + y
    t = product(w, s) + product(w, s + s)
    return t + t


def norms(x, w, weight):
    h = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * weight
    return x + product(w, h)


def cases(out):
    r = out.random(4201)
    a, b = r.normal(4, 6), r.normal(3, 6)
    out.case(
        "task_3_graph/guide", why="Aᵀ(AB), which needs a contiguous copy of Aᵀ", inputs={"a": a, "b": b}, outputs=guide,
        tolerance={"output": rounding(20, 40.0)},
    )  # fmt: skip
    r = out.random(4202)
    x, y, w = r.normal(3, 8), r.normal(3, 8), r.normal(5, 8)
    out.case(
        "task_3_graph/shared", why="nodes that several others read", inputs={"x": x, "y": y, "w": w}, outputs=shared,
        tolerance={"output": rounding(24, 60.0)},
    )  # fmt: skip
    r = out.random(4203)
    x, w, weight = r.normal(3, 8), r.normal(8, 8), r.normal(8, mean=1.0, std=0.3)
    out.case(
        "task_3_graph/norm", why="a norm, a product and what is added to", inputs={"x": x, "w": w, "weight": weight}, outputs=norms,
        tolerance={"output": rounding(30, 20.0)},
    )  # fmt: skip
    for seed, (family, json) in zip((4211, 4212, 4213, 4214), MODELS.items(), strict=True):
        r = out.random(seed)
        weights, tokens = draw_model(r, json), r.integers(7, high=json["vocab_size"])
        weights |= draw_biases(r, json)
        exact_weights = {name: value.double() for name, value in weights.items()}

        def run(tokens, json=json, **weights):
            return {"logits": decoder(json, weights, tokens[None])[0]}

        golden = run(tokens, **exact_weights)["logits"]
        out.case(
            f"task_4_model/{family}", why=f"a whole {family} of {json['num_hidden_layers']} layers", inputs={**weights, "tokens": tokens},
            outputs=run, tolerance={"logits": walk(roundings(json), golden)}, scalars={"config": json},
        )  # fmt: skip
