"""Does the engine write what llama.cpp writes? For each type of `quantize`, on the embedded model, compared with llama.cpp's other settings.

    cargo llm-ref --help                               # builds target/release/tiny-llm, the reference
    python python-ref/peers/greedy_texts.py --check    # all types, or: --type q8_0 --type q4_k_m

Needs the extra `peers` of pyproject.toml. llama.cpp continues beginnings of held-out stories greedily, at its default settings. The same tokens then go through it at
other settings and through the engine, and all logits are compared. A text is the same if the likeliest token at every position is the one that llama.cpp chose.
If not, the table has the distance of the two in llama.cpp's own logits.

`--check` fails if the engine is farther from llama.cpp's defaults than 1.25 times the farthest of its other settings. All settings are correct: they differ only in
what they round, and when.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from ctypes import c_void_p
from pathlib import Path

import llama_cpp as ll
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TYPES = "f32 f16 bf16 q8_0 q6_k q5_k_m q5_1 q5_0 q4_k_m q4_1 q4_0 q3_k_m q2_k".split()
F32, F16 = 0, 1
SETTINGS = {
    "defaults": {},
    "no flash attention": {"flash": False},
    "no flash attention, f32 cache": {"flash": False, "cache": F32},
    "token by token": {"batch": 1},
}
FARTHEST = 1.25


@ll.llama_log_callback
def silent(level, text, data):
    """Keeps the library's log off standard error."""


class Llama:
    """A model and a context of one sequence."""

    def __init__(self, path, flash=True, cache=F16, batch=512):
        params = ll.llama_model_default_params()
        params.n_gpu_layers = 0
        self.model = ll.llama_model_load_from_file(str(path).encode(), params)
        if not self.model:
            sys.exit(f"{path}: llama.cpp cannot load this file")
        params = ll.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = 512
        params.n_threads = params.n_threads_batch = 1
        params.flash_attn_type, params.type_k, params.type_v = int(flash), cache, cache
        self.context, self.size = ll.llama_init_from_model(self.model, params), batch
        self.vocab = ll.llama_model_get_vocab(self.model)
        self.batch = ll.llama_batch_init(512, 0, 1)

    def encode(self, text):
        ids, text = (ll.llama_token * 512)(), text.encode()
        return ids[: ll.llama_tokenize(self.vocab, text, len(text), ids, 512, False, False)]

    def clear(self):
        ll.llama_memory_clear(ll.llama_get_memory(self.context), True)
        self.length = 0

    def feed(self, tokens):
        """Returns logits `[len(tokens), V]`, one row after each token."""
        parts = []
        for start in range(0, len(tokens), self.size):
            part = tokens[start : start + self.size]
            self.batch.n_tokens = len(part)
            for i, token in enumerate(part):
                self.batch.token[i], self.batch.pos[i], self.batch.logits[i] = token, self.length + i, 1
                self.batch.n_seq_id[i], self.batch.seq_id[i][0] = 1, 0
            if ll.llama_decode(self.context, self.batch) != 0:
                sys.exit("llama.cpp cannot run these tokens")
            self.length += len(part)
            shape = (len(part), ll.llama_vocab_n_tokens(self.vocab))
            parts.append(np.ctypeslib.as_array(ll.llama_get_logits(self.context), shape).copy())
        return np.concatenate(parts)

    def write(self, prompt, count):
        """Returns the prompt and its greedy continuation, up to an end token."""
        self.clear()
        tokens, logits = list(prompt), self.feed(prompt)
        for _ in range(count):
            tokens.append(int(logits[-1].argmax()))
            if ll.llama_vocab_is_eog(self.vocab, tokens[-1]):
                break
            logits = self.feed(tokens[-1:])
        return tokens

    def logits(self, tokens):
        self.clear()
        return self.feed(tokens)

    def free(self):
        ll.llama_batch_free(self.batch)
        ll.llama_free(self.context)
        ll.llama_model_free(self.model)


def engine_logits(engine, path, tokens, folder):
    out = folder / "logits.safetensors"
    run([engine, "logits", "--model", path, "--tokens", ",".join(map(str, tokens)), "--out", out])
    data = out.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    shape = json.loads(data[8:start])["logits"]["shape"]
    return np.frombuffer(data[start:], "<f4").reshape(shape)


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip())


def compare(name, found, expected, texts, prompts):
    """Prints the table's line for `name`. Returns the root mean square difference of logits, after subtracting each row's mean."""
    centred = lambda x: x - x.mean(-1, keepdims=True)
    differences = np.concatenate([(centred(a) - centred(b)).ravel() for a, b in zip(found, expected)])
    gaps = []
    for logits, other, tokens, prompt in zip(found, expected, texts, prompts):
        likeliest = logits.argmax(-1)
        at = [i for i in range(len(prompt) - 1, len(tokens) - 1) if likeliest[i] != tokens[i + 1]]
        if at:
            gaps.append(abs(other[at[0], tokens[at[0] + 1]] - other[at[0], likeliest[at[0]]]))
    rms = float(np.sqrt((differences**2).mean()))
    parted = f", parted at {min(gaps):.4f} to {max(gaps):.4f}" if gaps else ""
    print(f"  {name:32} {len(texts) - len(gaps):3} of {len(texts)} texts, logits {rms:.5f} apart{parted}", flush=True)
    return rms


def distances(args, path, prompts_of, folder):
    """Returns the largest distance of llama.cpp's other settings from its defaults, and that of the engine. `prompts_of(llama)` returns prompts."""
    expected, self_rms = None, 0.0
    for name, settings in SETTINGS.items():
        llama = Llama(path, **settings)
        if expected is None:
            prompts = prompts_of(llama)
            texts = [llama.write(prompt, args.new_tokens) for prompt in prompts]
            expected = [llama.logits(tokens) for tokens in texts]
        else:
            self_rms = max(self_rms, compare(name, [llama.logits(tokens) for tokens in texts], expected, texts, prompts))
        llama.free()
    found = [engine_logits(args.engine, path, tokens, folder) for tokens in texts]
    return self_rms, compare("this engine", found, expected, texts, prompts)


def measure(args, tensor_type, stories, folder):
    """Returns whether the engine is as near to llama.cpp's defaults as `--check` requires."""
    path = folder / f"{tensor_type}.gguf"
    run([args.engine, "quantize", ROOT / "models/tiny-story", path, "--type", tensor_type])
    print(tensor_type)
    prompts_of = lambda llama: [llama.encode(story)[: 6 + i % 15] for i, story in enumerate(stories)]
    self_rms, rms = distances(args, path, prompts_of, folder)
    return rms <= FARTHEST * self_rms


def arguments(parser, texts):
    """Adds and parses the arguments that both programs share, and initialises llama.cpp."""
    parser.add_argument("--engine", type=Path, default=ROOT / "target/release/tiny-llm", help="a build of the command line")
    parser.add_argument("--texts", type=int, default=texts)
    parser.add_argument("-n", "--new-tokens", type=int, default=60)
    args = parser.parse_args()
    ll.llama_log_set(silent, c_void_p(0))
    ll.llama_backend_init()
    return args


def main():
    parser = argparse.ArgumentParser(description="Does the engine write what llama.cpp writes?")
    parser.add_argument("--type", action="append", choices=TYPES, help="may be repeated [default: all]")
    parser.add_argument("--check", action="store_true", help="fail where the engine is farther off than llama.cpp's own settings")
    args = arguments(parser, texts=24)
    lines = (ROOT / "models/eval/stories.jsonl").read_text().splitlines()
    stories = [json.loads(line)["text"] for line in lines[: 4 * args.texts : 4]]
    with tempfile.TemporaryDirectory() as folder:
        far = [name for name in args.type or TYPES if not measure(args, name, stories, Path(folder))]
    if args.check and far:
        sys.exit(f"farther from llama.cpp than its own settings are from each other: {', '.join(far)}")


if __name__ == "__main__":
    main()
