"""Times llguidance's masks on the answers that our benchmark has written, with the same vocabulary, schemas and tokens.

As in our benchmark, time ends when the logits are masked. The time until llguidance has its mask, a bit per token, is printed too.

    cargo bench --package tiny-llm-schema --bench masks -- --write target/masks.json
    python python-ref/peers/llguidance_masks.py target/masks.json
"""

import json
import sys
import time
from statistics import mean, median

import llguidance
import llguidance.numpy
import numpy as np

OPTIONS = {"item_separator": ",\x20?", "key_separator": ":\x20?", "whitespace_flexible": False}


class Words:
    """A tokenizer for llguidance."""

    def __init__(self, texts):
        self.eos_token_id, self.bos_token_id, self.special_token_ids = 0, None, [0]
        self.tokens = [b"<eos>", *(bytes(text) for text in texts[1:])]

    def __call__(self, text):
        return list(1 + byte for byte in (text if isinstance(text, bytes) else text.encode()))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        written = json.load(file)
    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Words(written["vocabulary"])), slices=llguidance.LLTokenizer.json_slices())
    mask = llguidance.numpy.allocate_token_bitmask(1, len(written["vocabulary"]))
    logits = np.zeros((1, len(written["vocabulary"])), dtype=np.float32)
    for case in written["schemas"]:
        grammar = llguidance.LLMatcher.grammar_from_json_schema(case["schema"], overrides=OPTIONS)
        first = llguidance.LLMatcher(tokenizer, grammar)
        for what in ["at first", "the same again"]:
            times, known, refused = [], [], 0
            for answer in case["answers"]:
                matcher = first.deep_copy()
                for token in answer:
                    start = time.perf_counter()
                    llguidance.numpy.fill_next_token_bitmask(matcher, mask)
                    known.append(1e6 * (time.perf_counter() - start))
                    llguidance.numpy.apply_token_bitmask_inplace(logits, mask)
                    times.append(1e6 * (time.perf_counter() - start))
                    logits[:] = 0
                    if matcher.try_consume_tokens([token]) != 1:
                        refused += 1
                        break
            times.sort()
            at = lambda q: times[int((len(times) - 1) * q)]  # noqa: E731
            print(f"{case['name']}, {what}: {len(times)} masks, {refused} answers left early; median {median(times):.1f} µs, p90 {at(0.9):.1f} µs, p99 {at(0.99):.0f} µs, mean {mean(times):.0f} µs; the mask alone {median(known):.1f} µs")


if __name__ == "__main__":
    main()
