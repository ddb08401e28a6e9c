"""How fast llama.cpp decodes several sequences at once, as one JSON object on standard output: what its `llama-batched-bench` measures.

    python python-ref/peers/llama_cpp_batched.py MODEL.gguf --threads 2 --prompt-tokens 128 --new-tokens 64 --sequences 1,4,8,16

Each sequence has a prompt of its own, then every step has one token of each. Every combination of settings is tried, and the best is reported for each number of sequences. With `--without-amx` the process gives
up the permission to use that unit's registers before llama.cpp asks for it, so that it takes its other kernels (Linux on x86-64 alone).
"""

import argparse
import json
import statistics
import sys
import time
from importlib.metadata import version

import llama_cpp as ll
from llama_cpp_bench import ALL, BATCH, arguments, loaded, number


class Sequences:
    """So many sequences in one cache."""

    def __init__(self, model, n, size, threads, settings):
        params = ll.llama_context_default_params()
        params.n_ctx = n * size
        params.n_seq_max = n
        params.n_batch = params.n_ubatch = BATCH
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = 1 if settings.flash_attention else 0
        self.context = ll.llama_init_from_model(model, params)
        if not self.context:
            sys.exit("llama.cpp has no room for this context")
        self.vocab = ll.llama_vocab_n_tokens(ll.llama_model_get_vocab(model))
        self.n = n
        self.batch = ll.llama_batch_init(BATCH, 0, 1)

    def decode(self, rows):
        """Runs rows, each a sequence, a position and whether its logits are wanted."""
        self.batch.n_tokens = len(rows)
        for i, (sequence, position, logits) in enumerate(rows):
            self.batch.token[i] = (position * 7919 + sequence * 31) % self.vocab
            self.batch.pos[i] = position
            self.batch.n_seq_id[i] = 1
            self.batch.seq_id[i][0] = sequence
            self.batch.logits[i] = logits
        if ll.llama_decode(self.context, self.batch) != 0:
            sys.exit("llama.cpp cannot run these tokens")

    def measure(self, prompt, new):
        """Seconds of the prompts, and of each step."""
        rows = [(sequence, position, position == prompt - 1) for sequence in range(self.n) for position in range(prompt)]
        start = time.perf_counter()
        for at in range(0, len(rows), BATCH):
            self.decode(rows[at : at + BATCH])
        prefill, steps = time.perf_counter() - start, []
        for position in range(prompt, prompt + new):
            start = time.perf_counter()
            self.decode([(sequence, position, True) for sequence in range(self.n)])
            steps.append(time.perf_counter() - start)
        return prefill, steps

    def free(self):
        ll.llama_batch_free(self.batch)
        ll.llama_free(self.context)


def main():
    parser = argparse.ArgumentParser(description="How fast llama.cpp decodes several sequences at once.")
    parser.add_argument("--sequences", type=lambda text: [number(n) for n in text.split(",")], default=[1, 4, 8, 16])
    args = arguments(parser, prompt_tokens=128, new_tokens=64)
    best = {}
    for settings in ALL:
        with loaded(args.model, settings) as model:
            for n in args.sequences:
                sequences = Sequences(model, n, args.prompt_tokens + args.new_tokens, args.threads, settings)
                prefill, steps = sequences.measure(args.prompt_tokens, args.new_tokens)
                sequences.free()
                found = {
                    "sequences": n,
                    "settings": str(settings),
                    # As our own: a step that something else disturbed does not count.
                    "decode_tokens_per_second": n / statistics.median(steps),
                    "prefill_tokens_per_second": n * args.prompt_tokens / prefill,
                }
                if n not in best or found["decode_tokens_per_second"] > best[n]["decode_tokens_per_second"]:
                    best[n] = found
    report = {
        "engine": f"llama.cpp (llama-cpp-python {version('llama-cpp-python')})",
        "model": args.model.name,
        "threads": args.threads,
        "amx": not args.without_amx and "AMX_INT8 = 1" in ll.llama_print_system_info().decode(),
        "prompt_tokens": args.prompt_tokens,
        "new_tokens": args.new_tokens,
        "batches": [best[n] for n in args.sequences],
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
