"""Week 4, day 5: GPU kernels.

Expected values are PyTorch's in float64. The `gguf` package packs and unpacks blocks. After each result there are numbers that no
kernel may overwrite, which detects writes past the end.
"""

import math
import struct

import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

from oracle.fixtures import Random, random_walk, rounding

GROUPS = 65_535
BEHIND = 70
"""Size of the region after a result that no kernel may overwrite: more numbers than a workgroup has threads."""
UNTOUCHED = -777.0


def dispatch(n, per_group):
    """Returns the workgroups for `n` items: the fewest rows of workgroups, found by trying, with the fewest workgroups per row."""
    groups = max(1, -(-n // per_group))
    rows = 1
    while rows * GROUPS < groups:
        rows += 1
    return [-(-groups // rows), rows, 1]


def behind(x):
    return torch.cat([x.reshape(-1), torch.full((BEHIND,), UNTOUCHED, dtype=x.dtype)])


def silu_gate(a, b):
    return a * torch.sigmoid(a) * b


def rms_norm(x, weight, eps):
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), weight, eps)


def packed(weights, kind):
    """Quantizes `weights` to format `kind`. Returns the bytes as 32-bit words, padded with zeros, and the numbers that they represent."""
    stored = quantize(weights.numpy(), GGMLQuantizationType[kind])
    decoded = torch.from_numpy(dequantize(stored, GGMLQuantizationType[kind]).astype("float64"))
    raw = stored.tobytes()
    words = torch.tensor([w for (w,) in struct.iter_unpack("<I", raw + b"\0" * (-len(raw) % 4))], dtype=torch.int64)
    return words, decoded


def attention(q, k, v, first, scale):
    """Computes attention of `q [T, H_q, D]` over `k` and `v [S, H, D]`. Row `t` sees positions 0 to `first + t`."""
    rows, positions = q.shape[0], k.shape[0]
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for x in (k, v))
    scores = torch.einsum("thd,shd->hts", q, k) * scale
    hidden = torch.arange(positions)[None, :] > first + torch.arange(rows)[:, None]
    shares = torch.softmax(scores.masked_fill(hidden, -math.inf), dim=-1)
    return torch.einsum("hts,shd->thd", shares, v)


SIZES = ((1, "one number"), (63, "one fewer than a workgroup has threads"), (64, "a whole workgroup"), (1000, "the last workgroup is not full"))
DISPATCHES = (
    (1, 64), (64, 64), (65, 64), (65_535, 1), (65_536, 1), (151_936, 1), (4_194_240, 64), (4_194_241, 64), (20_000_000, 64), (1 << 32, 256), (3, 256), (0, 64),
)  # fmt: skip
NORMS = (
    ("short", 3, 5, 1e-5, 1.0, "fewer numbers than threads"),
    ("whole", 2, 64, 1e-5, 1.0, "a number for each thread"),
    ("long", 5, 257, 0.25, 2.0, "no multiple of the threads, and not the same for each"),
    ("small", 4, 100, 1e-2, 0.05, "so small that eps counts"),
)
VECTORS = (
    ("one_block", "Q8_0", 4, 32, 1, "each row is one block; every other one does not begin at a word"),
    ("odd_rows", "Q8_0", 5, 96, 3, "three blocks a row, three columns"),
    ("long_rows", "Q8_0", 2, 32 * 67, 1, "more blocks than threads"),
    ("one_block", "Q4_0", 4, 32, 1, "each row is one block; every other one does not begin at a word"),
    ("odd_rows", "Q4_0", 5, 96, 3, "three blocks a row, three columns"),
    ("long_rows", "Q4_0", 2, 32 * 67, 1, "more blocks than threads"),
)
TILES = (
    ("one_tile", "Q8_0", 16, 64, 16, "a whole tile"),
    ("edges", "Q8_0", 19, 96, 21, "tiles that are not full on either side"),
    ("small", "Q8_0", 3, 32, 7, "less than a tile"),
    ("edges", "Q4_0", 19, 96, 21, "tiles that are not full on either side"),
)
MIXES = (
    ("one_position", 1, 2, 1, 8, 0, 1.0, "nothing but itself"),
    ("prompt", 5, 4, 2, 20, 0, 1.0, "each row sees one position more"),
    ("crosses_tiles", 3, 4, 2, 20, 120, 1.0, "two tiles of 64, the last not full"),
    ("wide_head", 1, 2, 1, 72, 69, 1.0, "more numbers in a head than threads"),
    ("large_scores", 2, 2, 2, 16, 100, 30.0, "scores of hundreds, whose exp would overflow"),
    ("far_below_zero", 2, 2, 1, 16, 20, 60.0, "scores below -90 alone, whose exp is 0"),
    ("widest_head", 1, 2, 1, 256, 4, 1.0, "four numbers of a head for each thread"),
)


def product(x, decoded):
    return x.double() @ decoded.T


def cases(out):
    for i, (n, per_group) in enumerate(DISPATCHES):
        out.case(
            f"task_1_dispatch/{i:02}_{n}_by_{per_group}", why="workgroups for so many items", tolerance={},
            scalars={"n": n, "per_group": per_group, "groups": dispatch(n, per_group)},
        )  # fmt: skip
    for i, (n, why) in enumerate(SIZES):
        r = out.random(4500 + i)
        a, b = r.normal(n), r.normal(n)
        out.case(
            f"task_1_add/{n}", why=why, inputs={"a": a, "b": b}, outputs={"output": behind(a.double() + b)},
            tolerance={"output": rounding(1, a.double() + b)},
        )  # fmt: skip
        gates = r.normal(n, std=3.0)
        # In WGSL, exp may be off by 3 + 2|x| units in the last place.
        expected = silu_gate(gates.double(), b)
        out.case(
            f"task_1_silu/{n}", why=why, inputs={"a": gates, "b": b}, outputs={"output": behind(expected)},
            tolerance={"output": rounding(32, expected)},
        )  # fmt: skip
    gates = torch.tensor([-120.0, -100.0, -89.0, -20.0, -0.0, 0.0, 20.0, 89.0, 100.0, 120.0])
    passing = torch.tensor([1.0, -2.0, 3.0, 0.5, 7.0, 1.0, 0.25, -1.0, 2.0, 0.5])
    expected = silu_gate(gates.double(), passing)
    out.case(
        "task_1_silu/extremes", seed=0, why="gates whose exp overflows on one side or the other", inputs={"a": gates, "b": passing},
        outputs={"output": behind(expected)}, tolerance={"output": rounding(32, expected)},
        nan="exp of a large gate overflows; infinity over infinity is no number",
    )  # fmt: skip
    for i, (name, rows, width, eps, std, why) in enumerate(NORMS):
        r = out.random(4520 + i)
        x, weight = r.normal(rows, width, std=std), r.normal(width, mean=1.0)
        expected = rms_norm(x.double(), weight.double(), eps)
        out.case(
            f"task_2_norm/{name}", why=why, inputs={"x": x, "weight": weight}, outputs={"output": behind(expected)},
            tolerance={"output": rounding(random_walk(width) + 8, expected)}, scalars={"eps": eps, "rows": rows, "width": width},
        )  # fmt: skip
    for task, shapes in (("task_3_mat_vec", VECTORS), ("task_4_mat_mat", TILES)):
        for i, (name, kind, rows, k, columns, why) in enumerate(shapes):
            r = Random(4540 + i + 20 * (task[5] == "4"))
            weights, x = r.normal(rows, k), r.normal(columns, k)
            stored, decoded = packed(weights, kind)
            expected = product(x, decoded)
            size = (x.abs().double() @ decoded.abs().T).max().item()
            out.case(
                f"{task}/{kind.lower()}_{name}", seed=4540 + i, why=why, inputs={"words": stored, "x": x}, outputs={"output": behind(expected)},
                tolerance={"output": rounding(min(random_walk(k), 40) + 4, size / 4)},
                scalars={"type": kind, "rows": rows, "k": k, "columns": columns},
            )  # fmt: skip
    for i, (name, rows, heads, kv_heads, d, first, std, why) in enumerate(MIXES):
        r = out.random(4580 + i)
        positions = first + rows
        q, k, v = r.normal(rows, heads, d, std=std), r.normal(positions, kv_heads, d), r.normal(positions, kv_heads, d)
        if name == "far_below_zero":
            q, k = -q.abs(), k.abs()
        scale = 0.5 if name == "prompt" else 1 / math.sqrt(d)
        scale = torch.tensor(scale, dtype=torch.float32).item()
        expected = attention(q.double(), k.double(), v.double(), first, scale)
        # The rounding of a score becomes a relative error of its weight.
        largest = (torch.einsum("thd,shd->", q.abs().double()[:, :1], k.abs().double()[:, :1]) * scale / rows / positions).item()
        out.case(
            f"task_5_attention/{name}", why=why, inputs={"q": q, "k": k, "v": v}, outputs={"output": behind(expected)},
            tolerance={"output": rounding(random_walk(d) * max(1.0, largest) / 2 + 24, v)},
            scalars={"rows": rows, "heads": heads, "kv_heads": kv_heads, "d": d, "first": first, "scale": scale},
        )  # fmt: skip
    r = out.random(4600)
    e, inner, rows, eps = 32, 64, 7, 0.125
    x, norm = r.normal(rows, e), r.normal(e, mean=1.0)
    parts = {"gate": packed(r.normal(inner, e, std=0.3), "Q8_0"), "up": packed(r.normal(inner, e, std=0.3), "Q4_0"), "down": packed(r.normal(e, inner, std=0.3), "Q8_0")}
    normed = rms_norm(x.double(), norm.double(), eps)
    gated = silu_gate(product(normed, parts["gate"][1]), product(normed, parts["up"][1]))
    expected = x.double() + product(gated, parts["down"][1])
    out.case(
        "task_6_mlp/mixed", why="an MLP whose matrices have different formats",
        inputs={"x": x, "norm": norm, **{name: stored for name, (stored, _) in parts.items()}}, outputs={"output": expected},
        tolerance={"output": rounding(4 * random_walk(e) + 40, expected)}, scalars={"e": e, "inner": inner, "rows": rows, "eps": eps},
    )  # fmt: skip
