"""Week 3, day 2: shares of a step and latencies against their definitions, and answers under any budget."""

import math

from test_week3_day1 import check_batch


def draw_loads(r):
    """Returns (tokens left, whether it decodes, steps waited) for each of several random requests."""
    return [(1, True, r.size(0, 4)) if r.choice(True, False) else (r.size(1, 20), False, 0) for _ in range(r.size(0, 14))]


def turns(loads, rows):
    """Returns 1 for each of the `rows` decoding requests that have waited longest, else 0. Prefers the oldest among equals."""
    decoding = sorted((i for i, load in enumerate(loads) if load[1]), key=lambda i: -loads[i][2])
    return [int(i in decoding[:rows]) for i in range(len(loads))]


def prompts(loads, rows):
    shares = []
    for left, decoding, _ in loads:
        shares.append(0 if decoding else min(left, rows))
        rows -= shares[-1]
    return shares


def decoding_rows(loads, budget, reserved):
    wanted = sum(left for left, decoding, _ in loads if not decoding)
    return min(sum(decoding for _, decoding, _ in loads), budget - min(reserved, wanted))


def test_week3_day2_task_1_budget(week3, r):
    for _ in range(20):
        loads, budget = draw_loads(r), r.size(2, 24)
        reserved, rows = r.size(1, budget - 1), r.size(0, 30)
        assert week3.scheduler.Scheduler(budget, reserved).decoding_rows(loads) == decoding_rows(loads, budget, reserved)
        assert week3.scheduler.share_prompts(loads, rows) == prompts(loads, rows)


def test_week3_day2_task_2_turns(week3, r):
    for _ in range(20):
        loads, budget = draw_loads(r), r.size(2, 24)
        reserved, rows = r.size(1, budget - 1), r.size(0, 10)
        assert week3.scheduler.take_turns(loads, rows) == turns(loads, rows)
        first = decoding_rows(loads, budget, reserved)
        expected = [a + b for a, b in zip(turns(loads, first), prompts(loads, budget - first))]
        assert week3.scheduler.Scheduler(budget, reserved).shares(loads) == expected


def test_week3_day2_task_2_answers_are_independent_of_the_budget(week2, week3, r):
    budget = r.size(2, 9)
    engine, _ = check_batch(week2, week3, r, 14, budget)
    assert engine.counts()[2] <= budget


def test_week3_day2_task_3_records(week3, r):
    moments = [(r.size(0, 50), r.size(50, 500))]
    for _ in range(r.size(0, 8)):
        moments.append((moments[-1][0] + r.size(1, 9), moments[-1][1] + r.size(1, 99)))
    record = week3.timeline.Record(*moments[0])
    assert record.time_to_first_token() is None
    for number, moment in enumerate(moments[1:], 1):
        record.token(*moment)
        assert record.time_to_first_token() == tuple(moments[1][axis] - moments[0][axis] for axis in (0, 1))
        gaps = list(zip(moments[1:number], moments[2 : number + 1]))
        assert record.longest_gap() == tuple(max((b[axis] - a[axis] for a, b in gaps), default=0) for axis in (0, 1))


def test_week3_day2_task_3_quantile(week3, r):
    """Expects the nearest rank: the smallest value such that at least the share `q` of all does not exceed it."""
    for _ in range(20):
        values, q = r.integers(r.size(0, 20), high=12).tolist(), r.choice(0.0, 0.5, 0.9, 0.99, 1.0, r.random.random())
        expected = sorted(values)[max(1, math.ceil(q * len(values))) - 1] if values else None
        assert week3.timeline.quantile(values, q) == expected
