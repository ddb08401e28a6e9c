"""Day 2: RoPE."""

import oracle.week1_day2 as oracle
from live import close
from oracle.fixtures import exact, relative_rounding, rounding


def tables(week1, r, head_dim, n_positions):
    """Returns the solution's tables with the oracle's numbers, so that later tasks do not depend on task 1. Also returns cos and sin."""
    cos, sin = (t.float() for t in oracle.rope_tables(oracle.inverse_frequencies(head_dim, r.choice(100.0, 10_000.0)), n_positions))
    return week1.rope.RopeTables.from_arrays(cos, sin), cos.double(), sin.double()


def test_week1_day2_task_1_inverse_frequencies(week1, r):
    head_dim, base = 2 * r.size(1, 64), r.choice(100.0, 10_000.0, 500_000.0, 1_000_000.0)
    # exp(−2i/D · ln base) rounds an exponent of up to ln base < 14.
    close(week1.rope.inverse_frequencies(head_dim, base), oracle.inverse_frequencies(head_dim, base), relative_rounding(18))


def test_week1_day2_task_1_tables(week1, r):
    frequencies = oracle.inverse_frequencies(2 * r.size(1, 16), r.choice(100.0, 10_000.0, 500_000.0)).float()
    n_positions = r.size(1, 400)
    found = week1.rope.RopeTables(frequencies, n_positions)
    cos, sin = oracle.rope_tables(frequencies.double(), n_positions)
    # The angle is rounded once, at its own size. Cos and sin add a unit at magnitude 1.
    tolerance = rounding(2, max(1.0, n_positions - 1.0), factor=1)
    close(found.cos, cos, tolerance)
    close(found.sin, sin, tolerance)


def check_form(week1, r, form):
    l, d, offset = r.size(1, 7), 2 * r.size(1, 8), r.choice(0, 1, 300)
    x = r.normal(*r.shape(0, 3), l, d)
    rope, cos, sin = tables(week1, r, d, offset + l + r.size(0, 3))
    found = getattr(week1.rope, f"rope_{form}")(x, rope, offset)
    close(found, getattr(oracle, f"rope_{form}")(x.double(), cos, sin, offset), rounding(3, x))


def test_week1_day2_task_2_rope_interleaved(week1, r):
    check_form(week1, r, "interleaved")


def test_week1_day2_task_3_rope_half_split(week1, r):
    check_form(week1, r, "half_split")


def test_week1_day2_task_4_rope_at_positions(week1, r):
    forms = {"interleaved": week1.rope.RopeForm.Interleaved, "half_split": week1.rope.RopeForm.HalfSplit}
    form = r.choice(*forms)
    b, h, l = r.different(3, 1, 6)
    d = 2 * r.size(1, 8)
    x, positions = r.normal(b, h, l, d), r.integers(b, l, high=320)
    rope, cos, sin = tables(week1, r, d, 320)
    found = week1.rope.rope_at_positions(x, rope, positions, forms[form])
    close(found, oracle.rope_at_positions(x.double(), cos, sin, positions, form), rounding(3, x))


def test_week1_day2_task_4_half_split_to_interleaved(week1, r):
    h, width = r.different(2, 1, 7)
    weight = r.normal(h * 2 * r.size(2, 6), width)
    found = week1.rope.half_split_to_interleaved(weight, h)
    close(found, oracle.half_split_to_interleaved(weight, h), exact())
