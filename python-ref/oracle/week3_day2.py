"""Week 3, day 2: chunked prefill.

However a prompt is cut, and whoever else is in a step, a request gets what it gets alone: the decoder of week 1, day 5, greedily. The
scheduler itself is arithmetic of whole numbers, which the tests hold against its definition.
"""

from oracle.week1_day5 import CONFIGS, draw_model
from oracle.week3_day1 import prompts_and_answers

LENGTHS = (19, 1, 7, 30, 3)
NEW = 8


def cases(out):
    for seed, family in ((3201, "llama"), (3202, "qwen2")):
        r = out.random(seed)
        json = CONFIGS[family]
        weights = draw_model(r, json)
        prompts, answers = prompts_and_answers(r, json, weights, LENGTHS, NEW)
        out.case(
            f"task_2_engine/{family}",
            why=f"a whole {family}, and five prompts of {', '.join(map(str, LENGTHS))} tokens, each continued alone by {NEW}",
            inputs=weights,
            tolerance={},
            scalars={"config": json, "prompts": prompts, "greedy": answers},
        )
