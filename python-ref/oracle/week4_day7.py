"""Week 4, day 7: a model of one layer, streamed from a file of int8 rows.

Integers are exact, everything else is in float64. The day defines what is rounded to integers: activations to int16
before each product, queries to int16, keys and values to int8 in the cache, and attention weights, times the values'
scales, to int16.
"""

import math

import torch

from oracle.fixtures import Tolerance, exact, relative_rounding

SIZES = {"vocabulary": 300, "tokens": 290, "hidden": 24, "heads": 4, "kv_heads": 2, "head_dim": 6, "intermediate": 150, "positions": 12}
EPS = 2.0**-16


def whole(x, most):
    """Quantizes the last axis. Returns integers of magnitude up to `most`, as floats, and their scale. Ties go to even."""
    scale = x.abs().amax(-1, keepdim=True) / most
    return torch.where(scale > 0, torch.round(x / scale), 0.0), scale.squeeze(-1)


def near_a_half(x, most):
    """Returns the smallest distance of a quotient of `x` and its scale from a tie."""
    scale = x.double().abs().amax(-1, keepdim=True) / most
    return ((x.double() / scale).frac().abs() - 0.5).abs().nan_to_num(nan=1.0).min().item()


def product(weights, scales, x):
    """Multiplies int8 rows with activations, which are rounded to int16."""
    steps, scale = whole(x, 32767)
    return weights @ steps * (scales * scale)


def attend(keys, values, q):
    """Computes attention: `keys`, `values [n, H, D]` before rounding, `q [H_q, D]` -> `[H_q, D]`."""
    (_, heads, dim), group = keys.shape, q.shape[0] // keys.shape[1]
    out = []
    for i in range(q.shape[0]):
        head = i // group
        k, k_scale = whole(keys[:, head], 127)
        v, v_scale = whole(values[:, head], 127)
        steps, scale = whole(q[i], 32767)
        scores = k @ steps * k_scale * scale / math.sqrt(dim)
        weights = (scores - scores.max()).exp()
        steps, scale = whole(weights * v_scale, 32767)
        out.append(steps @ v * scale / weights.sum())
    return torch.stack(out)


def swiglu(model, x):
    gate, up = (product(model[name], model[f"{name}_scale"], x) for name in ("gate", "up"))
    return product(model["down"], model["down_scale"], torch.nn.functional.silu(gate) * up)


def rms_norm(x, weight):
    return torch.nn.functional.rms_norm(x, x.shape, weight, EPS)


def rotate(x, turn):
    cos, sin = turn.chunk(2)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Streamed:
    """The model, fed one token at a time."""

    def __init__(self, model):
        self.model, self.keys, self.values = model, [], []

    def product(self, name, x):
        return product(self.model[name], self.model[f"{name}_scale"], x)

    def feed(self, token):
        model, heads = self.model, lambda x: x.reshape(-1, SIZES["head_dim"])
        h = model["embedding"][token] * model["embedding_scale"][token]
        turn = model["rope"][len(self.keys)]
        x = rms_norm(h, model["attention_norm"])
        q, k, v = (heads(self.product(name, x)) for name in ("query", "key", "value"))
        self.keys.append(rotate(k, turn))
        self.values.append(v)
        read = attend(torch.stack(self.keys), torch.stack(self.values), rotate(q, turn))
        h = h + self.product("output", read.flatten())
        self.h = h + swiglu(model, rms_norm(h, model["mlp_norm"]))

    def logits(self):
        return self.product("head", rms_norm(self.h, self.model["final_norm"]))[: SIZES["tokens"]]


def random_model(r):
    s = SIZES
    queries, keys = s["heads"] * s["head_dim"], s["kv_heads"] * s["head_dim"]
    shapes = {
        "embedding": (s["vocabulary"], s["hidden"]),
        "query": (queries, s["hidden"]),
        "key": (keys, s["hidden"]),
        "value": (keys, s["hidden"]),
        "output": (s["hidden"], queries),
        "gate": (s["intermediate"], s["hidden"]),
        "up": (s["intermediate"], s["hidden"]),
        "down": (s["hidden"], s["intermediate"]),
        "head": (s["vocabulary"], s["hidden"]),
    }
    model = {}
    for name, (rows, cols) in shapes.items():
        model[name] = r.integers(rows, cols, low=-127, high=128).float()
        model[f"{name}_scale"] = r.uniform(rows, low=0.001, high=0.006)
    # Gives the padding rows of the vocabulary the largest logits, which must not be chosen.
    model["head_scale"][s["tokens"] :] = 0.25
    for name in ("attention_norm", "mlp_norm", "final_norm"):
        model[name] = r.uniform(s["hidden"], low=0.5, high=1.5)
    turns = r.uniform(s["positions"], s["head_dim"] // 2, low=-3.0, high=3.0).double()
    model["rope"] = torch.cat([turns.cos(), turns.sin()], -1).mul(4096).round().div(4096).float()
    return model


def steps(n, magnitude):
    """Returns a tolerance for `n` int16 steps that are one off, because a quotient near a tie may go to either side."""
    value = float(f"{n / 32767 * magnitude:.1e}")
    return Tolerance(value, f"{n} int16 steps that are one off, of 32767 in a magnitude of {magnitude:.3g} = {value:.1e}")


def cases(out):
    r = out.random(4701)
    ties = torch.tensor([[127, 0.5, 1.5, 2.5, -0.5, -1.5, -126.5, 3.25]])
    rows = torch.cat([ties, torch.tensor([[-2.0, 1, 0.5, 0, 0, 0, 0.25, -1.75]]), torch.zeros(1, 8), r.normal(6, 8), r.normal(2, 8, std=100.0), r.normal(2, 8, std=0.01)])
    for name, most in (("int8", 127), ("int16", 32767)):
        # The first row's largest number is `most`, so that the scale is 1 and ties stay ties.
        x = torch.cat([torch.tensor([[most, *ties[0, 1:]]]), rows[1:]])
        assert near_a_half(x[3:], most) > 1e-4, name

        def quantized(x, most=most):
            q, scale = whole(x, most)
            return {"q": q, "scale": scale}

        out.case(
            f"task_1_{name}/rows",
            why="halves, a row whose largest number is negative, a row of zeros, large and small rows",
            inputs={"x": x},
            outputs=quantized,
            tolerance={"q": exact(), "scale": relative_rounding(1)},
        )
    dots = [
        ([], []),
        ([-127], [-32767]),
        ([3, -4, 5], [100, 200, -300]),
        ([127] * 1024, [32767] * 1024),
        ([-127] * 1000, [32767] * 1000),
        ([127, -127] * 300, [32767, -32767] * 300),
        (r.integers(333, low=-127, high=128).tolist(), r.integers(333, low=-32767, high=32768).tolist()),
    ]
    out.case(
        "task_1_dot/numbers",
        seed=r.seed,
        why="none, one, few and many numbers, and sums that 32 bits do not hold",
        scalars={"rows": [[w, x, sum(a * b for a, b in zip(w, x))] for w, x in dots]},
    )

    model = random_model(r)
    out.case("model/weights", why="a model of one layer, as int8 rows with a scale each", inputs=model, scalars=SIZES | {"eps": EPS})

    x = r.normal(SIZES["hidden"])
    out.case(
        "task_3_product/rows",
        why="a matrix of 150 rows and activations of both signs",
        inputs={"x": x},
        outputs=lambda x: product(model["gate"].to(x), model["gate_scale"].to(x), x),
        tolerance={"output": steps(8, (model["gate"].abs().amax() * model["gate_scale"].amax() * x.abs().amax()).item())},
    )

    s = SIZES
    for name, why, spread, n in (
        ("short", "two positions alone", 1.0, 2),
        ("varied", "nine positions whose keys and values differ in size", 1.0, 9),
        ("steep", "scores so large that their exponentials are infinite", 14.0, 9),
    ):
        keys, values = r.normal(n, s["kv_heads"], s["head_dim"]), r.normal(n, s["kv_heads"], s["head_dim"])
        sizes_of = r.uniform(n, s["kv_heads"], 1, low=0.1, high=2.0)
        keys, values = keys * spread, (values * sizes_of * 4096).round() / 4096
        q = r.normal(s["heads"], s["head_dim"]) * spread
        scores = torch.einsum("id,nid->in", q, keys.repeat_interleave(2, 1)) / math.sqrt(s["head_dim"])
        assert spread == 1.0 or scores.amax(-1).min() > 89, scores.amax(-1)
        out.case(
            f"task_4_attend/{name}",
            why=why,
            inputs={"keys": keys, "values": values, "q": q},
            outputs=attend,
            tolerance={"output": steps(8 + 2 * scores.abs().max().item(), values.abs().max().item())},
            nan=None if spread == 1.0 else "e to a score of 89 or more is more than an f32 holds: the largest score has to be subtracted first",
        )
    x = r.normal(s["hidden"])
    inner = {n: v for n, v in model.items() if n.split("_")[0] in ("gate", "up", "down")}
    mlp = lambda x: swiglu({n: v.to(x) for n, v in inner.items()}, x)
    out.case(
        "task_4_mlp/inner",
        why="150 outputs inside, which are no whole number of chunks",
        inputs={"x": x},
        outputs=mlp,
        tolerance={"output": steps(24, mlp(x.double()).abs().max().item())},
    )

    wide = {n: v.double() for n, v in model.items()}
    prompt, expected = [17, 289, 0, 17, 101], []
    run = Streamed(wide)
    other = Streamed(model)
    tokens = list(prompt)
    worst, gap = 0.0, math.inf
    for position in range(s["positions"]):
        run.feed(tokens[position])
        other.feed(tokens[position])
        if position + 1 < len(prompt):
            continue
        logits = run.logits()
        best = torch.topk(logits, 6)
        worst = max(worst, (other.logits().double() - logits).abs().max().item())
        gap = min(gap, (best.values[:-1] - best.values[1:]).min().item())
        expected.append([best.indices[:5].tolist(), best.values[:5].tolist()])
        tokens.append(best.indices[0].item())
    bound = steps(60, 1.0)
    assert worst < bound.value and gap > 3 * bound.value, (worst, gap, bound)
    out.case(
        "task_5_generate/greedy",
        why="a prompt that repeats a token, then the best token again and again, until the cache is full",
        inputs={"logits": torch.tensor([e[1] for e in expected], dtype=torch.float64).float()},
        scalars={"prompt": prompt, "best": [e[0] for e in expected], "logit_tolerance": bound.value, "derivation": bound.derivation},
    )
