"""Week 3, day 1: continuous batching.

A request must get the same tokens in a batch as alone. The expected tokens come from the decoder of week 1, day 5, greedily, one
text at a time. The implementation of transformers, with its cache, must agree.
"""

import torch

from oracle.week1_day5 import CONFIGS, clear_tokens, draw_model
from oracle.week2_day1 import transformers_cached

# Minimum distance of the two best logits: far above f32's errors in these models, so the order of summation cannot swap them.
MARGIN = 2e-3


def greedy(json, weights, prompt, new):
    """Returns the `new` tokens after the prompt, or `None` if the two best logits are nearly equal at any step."""
    tokens = clear_tokens(json, weights, prompt, new, MARGIN)
    if len(tokens) < new:
        return None
    text = torch.tensor([*prompt, *tokens[:-1]])
    theirs = transformers_cached(json, {n: w.float() for n, w in weights.items()}, text, [len(prompt)] + [1] * (new - 1))
    assert theirs[len(prompt) - 1 :].argmax(-1).tolist() == tokens, "transformers chooses other tokens"
    return tokens


def whole_models(out, task, families, prompts, lengths, new):
    """Writes a case per family and seed: a model, a prompt of each length, and the continuation of each prompt alone."""
    for seed, family in families:
        r = out.random(seed)
        json = CONFIGS[family]
        weights = draw_model(r, json)
        exact_weights = {name: value.double() for name, value in weights.items()}
        drawn, answers = [], []
        for length in lengths:
            answer = None
            while answer is None:
                prompt = r.integers(length, high=json["vocab_size"]).tolist()
                answer = greedy(json, exact_weights, prompt, new)
            drawn.append(prompt)
            answers.append(answer)
        out.case(
            f"task_{task}_engine/{family}",
            why=f"a whole {family}, and {prompts} prompts of {', '.join(map(str, lengths))} tokens, each continued alone by {new}",
            inputs=weights,
            scalars={"config": json, "prompts": drawn, "greedy": answers},
        )


def task_4(out):
    whole_models(out, 4, ((3101, "llama"), (3102, "qwen3")), "six", (5, 1, 8, 3, 2, 6), 7)
