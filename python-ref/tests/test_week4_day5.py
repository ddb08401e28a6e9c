"""Week 4, day 5: GPU kernels. The oracle is PyTorch. The `gguf` package packs and unpacks blocks.

The bridge has these kernels if it was built with `--features gpu`. Without that, or without a GPU, the tests are skipped
with the reason.
"""

import math

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize
from live import close, refuses
from oracle import week4_day5 as oracle
from oracle.fixtures import random_walk, rounding

FORMATS = ("Q8_0", "Q4_0")


@pytest.fixture
def gpu(week4):
    if not hasattr(week4, "gpu"):
        pytest.skip("the bridge was built without graphics processors: `maturin develop --release --features gpu`")
    try:
        week4.gpu.adapter()
    except ValueError as error:
        pytest.skip(str(error))
    return week4.gpu


def matrix(r, kind, rows, k, std=1.0):
    """Returns a random matrix in format `kind`: the bytes of each row, and the numbers that they represent."""
    stored = quantize(r.normal(rows, k, std=std).numpy(), GGMLQuantizationType[kind])
    return [row.tobytes() for row in stored], torch.from_numpy(dequantize(stored, GGMLQuantizationType[kind]).astype("float64"))


def test_week4_day5_task_1_workgroups(gpu, r):
    for n in (r.size(0, 300), r.size(1, 1 << 20), r.size(1, 1 << 34)):
        per_group = r.choice(1, 64, 256) if n <= 65_535**2 else 256
        assert gpu.dispatch_size(n, per_group) == oracle.dispatch(n, per_group)
    with pytest.raises(ValueError, match=str(65_535**2 + 1)):
        gpu.dispatch_size(65_535**2 + 1, 1)


def test_week4_day5_task_1_elementwise(gpu, r):
    n, lines = r.choice(1, 64, r.size(2, 63), r.size(65, 3000)), r.choice(1, r.size(2, 5))
    a, b = r.normal(n), r.normal(n)
    expected = a.double() + b.double()
    close(gpu.add(a, b, lines), expected, rounding(1, expected))
    # For some gates, exp overflows. In WGSL, exp may be off by 3 + 2|x| units in the last place, and values below 2^-126 may be 0.
    gates = r.normal(n, std=3.0) + r.integers(n, high=3) * r.choice(0.0, 100.0, -100.0)
    expected = oracle.silu_gate(gates.double(), b.double())
    close(gpu.silu_gate(gates, b, lines), expected, rounding(32, max(1.0, expected.abs().max().item())))


def test_week4_day5_task_2_norm(gpu, r):
    rows, width = r.choice(1, r.size(2, 9)), r.choice(1, 64, r.size(2, 63), r.size(65, 700))
    # Some inputs are so small that eps matters.
    x, weight, eps = r.normal(rows, width, std=r.choice(0.05, 1.0, 3.0)), r.norm_weight(width), r.choice(1e-5, 1e-2, 0.25)
    expected = oracle.rms_norm(x.double(), weight.double(), eps)
    close(gpu.rms_norm(x, weight, eps, r.size(1, 3)), expected, rounding(random_walk(width) + 8, expected))


def check_product(r, multiply, kind, rows, k, columns):
    rows_of_bytes, decoded = matrix(r, kind, rows, k)
    x = r.normal(columns, k)
    size = (x.abs().double() @ decoded.abs().T).max().item()
    close(multiply(kind, rows_of_bytes, x), oracle.product(x, decoded), rounding(min(random_walk(k), 40) + 4, size / 4))


@pytest.mark.parametrize("kind", FORMATS)
def test_week4_day5_task_3_matrix_times_vector(gpu, r, kind):
    # In every second row, blocks may begin in the middle of a word. There may be more blocks than threads.
    blocks = r.choice(1, r.size(2, 9), r.size(65, 80))
    lines = r.size(1, 3)
    check_product(r, lambda *of: gpu.mat_vec(*of, lines), kind, r.choice(1, r.size(2, 20)), 32 * blocks, r.choice(1, r.size(2, 4)))


@pytest.mark.parametrize("kind", FORMATS)
def test_week4_day5_task_4_tiles(gpu, r, kind):
    rows, columns = r.choice(1, 16, r.size(2, 50)), r.choice(1, 16, r.size(2, 50))
    check_product(r, gpu.mat_mat, kind, rows, 32 * r.size(1, 9), columns)


def check_attention(gpu, r, d, first, std):
    rows, kv_heads, group = r.choice(1, r.size(2, 6)), r.size(1, 3), r.size(1, 3)
    # There may be positions after those that the last row sees.
    positions, scale = first + rows + r.size(0, 3), r.choice(0.5, 1.0) / math.sqrt(d)
    q, k, v = r.normal(rows, kv_heads * group, d, std=std), r.normal(positions, kv_heads, d), r.normal(positions, kv_heads, d)
    scale = torch.tensor(scale, dtype=torch.float32).item()
    expected = oracle.attention(q.double(), k.double(), v.double(), first, scale)
    # The rounding of a score becomes a relative error of its weight.
    largest = torch.einsum("thd,shd->ths", q.abs(), k.abs().repeat_interleave(group, dim=1)).max().item() * scale
    close(gpu.attention(q, k, v, first, scale), expected, rounding(random_walk(d) * max(1.0, largest) + random_walk(positions) + 24, v))


def test_week4_day5_task_5_attention(gpu, r):
    check_attention(gpu, r, r.choice(1, 256, r.size(2, 90)), r.choice(0, r.size(1, 62), r.size(63, 200)), 1.0)


def test_week4_day5_task_5_scores_whose_exp_overflows(gpu, r):
    check_attention(gpu, r, r.size(16, 80), r.size(0, 200), r.choice(60.0, 200.0))


@pytest.mark.parametrize("kind", FORMATS)
def test_week4_day5_task_6_few_and_many_columns(gpu, r, kind):
    check_product(r, gpu.product, kind, r.size(1, 40), 32 * r.size(1, 9), r.choice(1, 4, 5, r.size(6, 40)))


def test_week4_day5_task_6_mlp(gpu, r):
    rows, e, inner = r.choice(1, r.size(2, 9)), 32 * r.size(1, 4), 32 * r.size(1, 4)
    x, norm, eps = r.normal(rows, e), r.norm_weight(e), r.choice(1e-5, 0.125)
    kinds = [r.choice(*FORMATS) for _ in range(3)]
    parts = [matrix(r, kind, m, k, std=0.3) for kind, m, k in zip(kinds, (inner, inner, e), (e, e, inner), strict=True)]
    given = [(kind, rows_of_bytes) for kind, (rows_of_bytes, _) in zip(kinds, parts, strict=True)]
    gate, up, down = (decoded for _, decoded in parts)
    normed = oracle.rms_norm(x.double(), norm.double(), eps)
    gated = oracle.silu_gate(oracle.product(normed, gate), oracle.product(normed, up))
    expected = x.double() + oracle.product(gated, down)
    size = max((gated.abs() @ down.abs().T).max().item() / 4, expected.abs().max().item())
    found, recorded, submitted = gpu.mlp(x, norm, eps, *given)
    close(found, expected, rounding(4 * random_walk(max(e, inner)) + 40, size))
    assert (recorded, submitted) == (6, 0)


ones = np.ones
BLOCKS = [bytes(34)] * 3

# The call, the argument, a part of what was found, a part of what was expected.
REFUSED = [
    (lambda gpu: gpu.dispatch_size(3, 0), "per_group", "0", "1 or more"),
    (lambda gpu: gpu.add(ones(3), ones(4)), "b", "[4]", "n = 3, as in a"),
    (lambda gpu: gpu.add(ones((3, 1)), ones((3, 1))), "a", "[3, 1]", "[n]"),
    (lambda gpu: gpu.add(ones(3), [1.0, np.nan, 1.0]), "b", "NaN at [1]", "at most 1e15"),
    (lambda gpu: gpu.add(ones(3), ones(3), 0), "lines", "0", "1 or more"),
    (lambda gpu: gpu.add(ones(3), ones(3), 1 << 16), "lines", "65536", "less than 65536"),
    (lambda gpu: gpu.silu_gate(ones(3), ones(2)), "up", "[2]", "n = 3, as in gate"),
    (lambda gpu: gpu.rms_norm(ones((2, 5)), ones(4), 1e-5), "weight", "[4]", "width = 5, as in x"),
    (lambda gpu: gpu.rms_norm(ones(5), ones(5), 1e-5), "x", "[5]", "[rows, width]"),
    (lambda gpu: gpu.mat_vec("Q8_0", BLOCKS, ones((1, 33))), "x", "33", "multiple of 32"),
    (lambda gpu: gpu.mat_vec("Q8_0", [bytes(33)], ones((1, 32))), "bytes", "33 bytes in row 0", "34"),
    (lambda gpu: gpu.mat_vec("Q4_0", BLOCKS, ones((1, 32))), "bytes", "34 bytes in row 0", "18"),
    (lambda gpu: gpu.mat_vec("Q8_0", [], ones((1, 32))), "bytes", "no row", "at least one"),
    (lambda gpu: gpu.mat_vec("Q6_K", BLOCKS, ones((1, 256))), "tensor_type", "Q6_K", "Q4_0"),
    (lambda gpu: gpu.mat_mat("Q8_0", BLOCKS, ones(32)), "x", "[32]", "[columns, k]"),
    (lambda gpu: gpu.mat_mat("Q8_0", BLOCKS, ones((2, 64))), "bytes", "34 bytes in row 0", "68"),
    (lambda gpu: gpu.product("Q8_0", [*BLOCKS, b""], ones((2, 32))), "bytes", "0 bytes in row 3", "34"),
    (lambda gpu: gpu.attention(ones((1, 2, 4)), ones((3, 1, 5)), ones((3, 1, 5)), 0, 1.0), "keys", "[3, 1, 5]", "d = 4, as in q"),
    (lambda gpu: gpu.attention(ones((1, 2, 4)), ones((3, 1, 4)), ones((2, 1, 4)), 0, 1.0), "values", "[2, 1, 4]", "positions = 3"),
    (lambda gpu: gpu.attention(ones((1, 3, 4)), ones((3, 2, 4)), ones((3, 2, 4)), 0, 1.0), "keys", "2", "divisor of 3"),
    (lambda gpu: gpu.attention(ones((2, 2, 4)), ones((3, 1, 4)), ones((3, 1, 4)), 2, 1.0), "first", "2 before 2 rows", "3 positions"),
    (lambda gpu: gpu.attention(ones((1, 1, 257)), *[ones((1, 1, 257))] * 2, 0, 1.0), "q", "257", "at most 256"),
    (lambda gpu: gpu.mlp(ones((2, 32)), ones(31), 1e-5, *[("Q8_0", BLOCKS)] * 3), "norm", "[31]", "E = 32, as in x"),
    (lambda gpu: gpu.mlp(ones((2, 32)), ones(32), 1e-5, *[("Q8_0", [bytes(34)] * 32)] * 2, ("Q8_0", BLOCKS)), "down", "3 rows", "32"),
]  # fmt: skip


@pytest.mark.parametrize("call, argument, found, expected", REFUSED)
def test_week4_day5_refusals_name_the_argument(gpu, call, argument, found, expected):
    refuses(lambda: call(gpu), argument, found, expected)
