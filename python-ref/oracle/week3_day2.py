"""Week 3, day 2: chunked prefill.

However its prompt is split, and whatever else is in a step, a request must get the same tokens as alone. The decoder of week 1, day 5,
computes these greedily. The scheduler is integer arithmetic, which the tests compare with its definition.
"""

from oracle.week3_day1 import whole_models


def task_2(out):
    whole_models(out, 2, ((3201, "llama"), (3202, "qwen2")), "five", (19, 1, 7, 30, 3), 8)
