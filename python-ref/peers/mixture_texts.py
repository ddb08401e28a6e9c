"""Do models with experts write what llama.cpp writes? On GGUF files of Qwen3-MoE and gpt-oss, greedily, and with all logits compared.

    python -m oracle.week4_day6_models FOLDER      # in python-ref: writes small files, with PyTorch's environment
    cargo llm-ref --help                           # builds target/release/tiny-llm, the reference
    python python-ref/peers/mixture_texts.py FOLDER/*.gguf

Needs the extra `peers` of pyproject.toml. Compare the line of this engine with those of llama.cpp's own settings, as in `greedy_texts.py`.
"""

import argparse
import random
import tempfile
from pathlib import Path

import llama_cpp as ll
from greedy_texts import arguments, distances


def random_prompts(llama, count):
    bits, vocabulary = random.Random(6), ll.llama_vocab_n_tokens(llama.vocab)
    return [[bits.randrange(min(vocabulary, 26)) for _ in range(3 + i % 12)] for i in range(count)]


def main():
    parser = argparse.ArgumentParser(description="Do models with experts write what llama.cpp writes?")
    parser.add_argument("model", nargs="+", type=Path)
    args = arguments(parser, texts=12)
    with tempfile.TemporaryDirectory() as folder:
        for path in args.model:
            print(path.name)
            distances(args, path, lambda llama: random_prompts(llama, args.texts), Path(folder))


if __name__ == "__main__":
    main()
