"""Week 3, day 2: chunked prefill.

However a prompt is cut, and whoever else is in a step, a request gets what it gets alone: the decoder of week 1, day 5, greedily. The
scheduler itself is arithmetic of whole numbers, which the tests hold against its definition.
"""

from oracle.week3_day1 import whole_models


def task_2(out):
    whole_models(out, 2, ((3201, "llama"), (3202, "qwen2")), "five", (19, 1, 7, 30, 3), 8)
