"""Do models with experts write what llama.cpp writes? On GGUF files of Qwen3-MoE and gpt-oss, greedily, and with all logits compared.

    python -m oracle.week4_day6_models FOLDER      # in python-ref: writes small files, with PyTorch's environment
    cargo llm-ref --help                           # builds target/release/tiny-llm, the reference
    python python-ref/peers/mixture_texts.py FOLDER/*.gguf

Needs the extra `peers` of pyproject.toml. The line of this engine is to be read beside those of llama.cpp's own settings, as in `greedy_texts.py`.
"""

import argparse
import random
import tempfile
from ctypes import c_void_p
from pathlib import Path

import llama_cpp as ll
from greedy_texts import ROOT, SETTINGS, Llama, compare, engine_logits
from llama_cpp_bench import silent


def measure(args, path, folder):
    print(path.name)
    bits, expected = random.Random(6), None
    for name, settings in SETTINGS.items():
        llama = Llama(path, **settings)
        if expected is None:
            vocabulary = ll.llama_vocab_n_tokens(llama.vocab)
            prompts = [[bits.randrange(min(vocabulary, 26)) for _ in range(3 + i % 12)] for i in range(args.texts)]
            texts = [llama.write(prompt, args.new_tokens) for prompt in prompts]
            expected = [llama.logits(tokens) for tokens in texts]
        else:
            compare(name, [llama.logits(tokens) for tokens in texts], expected, texts, prompts)
        llama.free()
    found = [engine_logits(args.engine, path, tokens, folder) for tokens in texts]
    compare("this engine", found, expected, texts, prompts)


def main():
    parser = argparse.ArgumentParser(description="Do models with experts write what llama.cpp writes?")
    parser.add_argument("model", nargs="+", type=Path)
    parser.add_argument("--engine", type=Path, default=ROOT / "target/release/tiny-llm", help="a build of the command line")
    parser.add_argument("--texts", type=int, default=12)
    parser.add_argument("-n", "--new-tokens", type=int, default=60)
    args = parser.parse_args()

    ll.llama_log_set(silent, c_void_p(0))
    ll.llama_backend_init()
    with tempfile.TemporaryDirectory() as folder:
        for path in args.model:
            measure(args, path, Path(folder))


if __name__ == "__main__":
    main()
