"""Day 4: RMSNorm, SiLU, the SwiGLU MLP."""

import oracle.week1_day4 as oracle
import torch
from live import close
from oracle.fixtures import relative_rounding, rounding
from oracle.week1_day1 import linear


def test_week1_day4_task_1_rms_norm(week1, r):
    width, eps = r.size(1, 16), r.choice(1e-6, 1e-5, 0.25)
    weight = r.norm_weight(width)
    x = r.normal(*r.shape(1, 3), width) * r.choice(1.0, 1e-3, 1e3) + r.choice(0.0, 5.0)
    before = x.clone()
    found = week1.norm.RmsNorm(weight, eps).forward(x)
    expected = oracle.rms_norm(x.double(), weight.double(), torch.tensor(eps, dtype=torch.float32).double())
    # The squares are all positive, so nothing cancels in their sum. Root, division and product follow.
    close(found, expected, relative_rounding(width + 5))
    assert torch.equal(x, before)


def test_week1_day4_task_2_silu(week1, r):
    low, high = r.choice((-3.0, 3.0), (-85.0, -8.0), (8.0, 300.0), (-1e4, -300.0))
    x = torch.cat([r.uniform(*r.shape(0, 2), 20, low=low, high=high).flatten(), torch.zeros(1)])
    expected = torch.nn.functional.silu(x.double())
    # Below 2⁻¹²⁶, float32 has fewer digits, and finally none.
    normal = (expected == 0) | (expected.abs() > 2.0**-126)
    found = week1.mlp.silu(x)
    assert torch.tensor(found).isfinite().all(), f"not finite between {low} and {high}"
    close(found[normal.numpy()], expected[normal], relative_rounding(6))
    close(found[~normal.numpy()], expected[~normal], rounding(1, 2.0**-102))


def test_week1_day4_task_3_swiglu(week1, r):
    e, i = r.choice((8, 8), r.different(2, 1, 16))
    gate, up, down = r.weight(i, e), r.weight(i, e), r.weight(e, i)
    x = r.normal(*r.shape(1, 3), e, std=2.0)
    found = week1.mlp.SwiGlu(gate, up, down).forward(x)
    expected = oracle.swiglu(x.double(), gate.double(), up.double(), down.double())
    # |SiLU(x)| is at most |x|, and its slope is at most 1.1.
    product = linear(x.abs(), gate.abs()) * linear(x.abs(), up.abs())
    close(found, expected, rounding(2 * e + i + 8, linear(product, down.abs()), factor=1))
