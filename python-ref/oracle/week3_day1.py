"""Week 3, day 1: continuous batching.

What is expected of a request in a batch is what it gets alone: the decoder of week 1, day 5, greedily, one text at a time. The
implementation of transformers, with its cache, must agree.
"""

import torch

from oracle.week1_day5 import CONFIGS, decoder, draw_model
from oracle.week2_day1 import transformers_cached

LENGTHS = (5, 1, 8, 3, 2, 6)
NEW = 7
# Far above what f32 loses in these models: the best token is the same, however the sums are ordered.
MARGIN = 2e-3


def greedy(json, weights, prompt, new=NEW):
    """The `new` tokens after the prompt; `None` if two tokens are nearly as good."""
    tokens = list(prompt)
    for _ in range(new):
        logits = decoder(json, weights, torch.tensor([tokens]))[0, -1]
        best = logits.topk(2)
        if best.values[0] - best.values[1] < MARGIN:
            return None
        tokens.append(best.indices[0].item())
    theirs = transformers_cached(json, {n: w.float() for n, w in weights.items()}, torch.tensor(tokens[:-1]), [len(prompt)] + [1] * (new - 1))
    assert theirs[len(prompt) - 1 :].argmax(-1).tolist() == tokens[len(prompt) :], "transformers chooses other tokens"
    return tokens[len(prompt) :]


def prompts_and_answers(r, json, weights, lengths, new):
    """A prompt of each length, and what follows it when it is alone."""
    exact_weights = {name: value.double() for name, value in weights.items()}
    prompts, answers = [], []
    for length in lengths:
        answer = None
        while answer is None:
            prompt = r.integers(length, high=json["vocab_size"]).tolist()
            answer = greedy(json, exact_weights, prompt, new)
        prompts.append(prompt)
        answers.append(answer)
    return prompts, answers


def cases(out):
    for seed, family in ((3101, "llama"), (3102, "qwen3")):
        r = out.random(seed)
        json = CONFIGS[family]
        weights = draw_model(r, json)
        prompts, answers = prompts_and_answers(r, json, weights, LENGTHS, NEW)
        out.case(
            f"task_4_engine/{family}",
            why=f"a whole {family}, and six prompts of {', '.join(map(str, LENGTHS))} tokens, each continued alone by {NEW}",
            inputs=weights,
            tolerance={},
            scalars={"config": json, "prompts": prompts, "greedy": answers},
        )
