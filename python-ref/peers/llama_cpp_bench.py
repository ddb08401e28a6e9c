"""Speed and memory of llama.cpp on a GGUF file, as one JSON object on standard output.

    python python-ref/peers/llama_cpp_bench.py MODEL.gguf --threads 2 --prompt-tokens 512 --new-tokens 128

Needs the extra `peers` of pyproject.toml, whose package `llama-cpp-python` compiles llama.cpp for this machine. Its defaults are not always its
best, so both are measured: `--settings best` tries every combination of `--settings` and reports the fastest prefill and the fastest decode, each
with the settings that gave it. Tokens are arbitrary and nothing is sampled, as in its own benchmark.
"""

import argparse
import json
import sys
import time
from contextlib import contextmanager
from ctypes import c_void_p
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import llama_cpp as ll
from llama_cpp_amx import refuse_amx

BATCH = 512


@dataclass(frozen=True)
class Settings:
    """What may be switched. `repack` keeps a second copy of the weights in a layout of the CPU's liking."""

    repack: bool
    flash_attention: bool

    def __str__(self):
        return f"{'repack' if self.repack else 'no-repack'},{'flash' if self.flash_attention else 'no-flash'}"


ALL = [Settings(repack, flash) for repack in (True, False) for flash in (False, True)]
# The library turns flash attention on by itself wherever the device has it, and the CPU has.
DEFAULTS = Settings(repack=True, flash_attention=True)


@ll.llama_log_callback
def silent(level, text, data):
    """Keeps the library's log off standard error."""


def memory():
    """This process's own and mapped resident bytes; nothing where the system does not say."""
    try:
        fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    except OSError:
        return None
    value = lambda name: int(fields[name].split()[0]) * 1024
    return {"own": value("RssAnon"), "mapped": value("RssFile")}


def memory_since(before):
    """What has come since `before`: the interpreter's own memory is not the library's."""
    now = memory()
    return now and {kind: now[kind] - before[kind] for kind in now}


@contextmanager
def loaded(path, settings):
    """The model, freed at the end."""
    params = ll.llama_model_default_params()
    params.n_gpu_layers = 0
    params.use_extra_bufts = settings.repack
    model = ll.llama_model_load_from_file(str(path).encode(), params)
    if not model:
        sys.exit(f"{path}: llama.cpp cannot load this file")
    try:
        yield model
    finally:
        ll.llama_model_free(model)


class Context:
    """A sequence in a cache of `size` positions."""

    def __init__(self, model, size, threads, settings):
        params = ll.llama_context_default_params()
        params.n_ctx = size
        params.n_batch = params.n_ubatch = min(BATCH, size)
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = 1 if settings.flash_attention else 0
        self.context = ll.llama_init_from_model(model, params)
        if not self.context:
            sys.exit("llama.cpp has no room for this context")
        self.vocab = ll.llama_vocab_n_tokens(ll.llama_model_get_vocab(model))
        self.length = 0

    def clear(self):
        ll.llama_memory_clear(ll.llama_get_memory(self.context), True)
        self.length = 0

    def feed(self, count):
        """Runs `count` more tokens; returns once the last one's logits are there."""
        while count > 0:
            now = min(count, BATCH)
            # The same stride as our own benchmark's prompt.
            tokens = (ll.llama_token * now)(*(i * 7919 % self.vocab for i in range(self.length, self.length + now)))
            if ll.llama_decode(self.context, ll.llama_batch_get_one(tokens, now)) != 0:
                sys.exit("llama.cpp cannot run these tokens")
            self.length += now
            count -= now
        logits = ll.llama_get_logits_ith(self.context, -1)
        assert logits[0] == logits[0], "the logits are NaN"

    def free(self):
        ll.llama_free(self.context)


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(args, settings):
    """Rates with these settings, the fastest of the repetitions."""
    before = memory()
    start = time.perf_counter()
    with loaded(args.model, settings) as model:
        size = args.context or args.prompt_tokens + args.new_tokens
        context = Context(model, size, args.threads, settings)
        prefill, decode, first = [], [], None
        for _ in range(args.repeat):
            context.clear()
            prefill.append(seconds(lambda: context.feed(args.prompt_tokens)))
            first = first or time.perf_counter() - start
            if args.new_tokens > 1:
                # The first new token is the prefill's.
                decode.append(seconds(lambda: [context.feed(1) for _ in range(args.new_tokens - 1)]))
        result = {
            "settings": str(settings),
            "prefill_tokens_per_second": args.prompt_tokens / min(prefill),
            "decode_tokens_per_second": (args.new_tokens - 1) / min(decode) if decode else None,
            # From the call that opens the file, without the interpreter's start: the library's work alone.
            "first_token_seconds": first,
            "memory": memory_since(before),
        }
        context.free()
    return result


def chosen(name):
    if name == "best":
        return ALL
    if name == "default":
        return [DEFAULTS]
    for settings in ALL:
        if str(settings) == name:
            return [settings]
    raise argparse.ArgumentTypeError(f"found {name!r}, expected best, default or one of {', '.join(map(str, ALL))}")


def number(text):
    return max(1, int(text))


def arguments(parser, prompt_tokens, new_tokens):
    """Those of both programs, and llama.cpp made ready."""
    parser.add_argument("model", type=Path)
    parser.add_argument("-j", "--threads", type=number, default=1)
    parser.add_argument("--prompt-tokens", type=number, default=prompt_tokens)
    parser.add_argument("-n", "--new-tokens", type=number, default=new_tokens)
    parser.add_argument("--without-amx", action="store_true", help="give AMX up, as `llama_cpp_batched.py` does")
    args = parser.parse_args()
    if args.without_amx:
        refuse_amx()
    ll.llama_log_set(silent, c_void_p(0))
    ll.llama_backend_init()
    return args


def main():
    parser = argparse.ArgumentParser(description="Speed and memory of llama.cpp on a GGUF file.")
    parser.add_argument("-c", "--context", type=number, help="positions of the cache [default: as many as are used]")
    parser.add_argument("--repeat", type=number, default=1, help="measure so many times and report the fastest")
    parser.add_argument("--settings", type=chosen, default="default", help=f"best, default, or one of {', '.join(map(str, ALL))}")
    args = arguments(parser, prompt_tokens=512, new_tokens=128)
    tried = [measure(args, settings) for settings in args.settings]
    best = lambda field: max(tried, key=lambda result: result[field] or 0)
    prefill, decode = best("prefill_tokens_per_second"), best("decode_tokens_per_second")
    report = {
        "engine": f"llama.cpp (llama-cpp-python {version('llama-cpp-python')})",
        "model": args.model.name,
        "threads": args.threads,
        "prompt_tokens": args.prompt_tokens,
        "new_tokens": args.new_tokens,
        "prefill_tokens_per_second": prefill["prefill_tokens_per_second"],
        "prefill_settings": prefill["settings"],
        "decode_tokens_per_second": decode["decode_tokens_per_second"],
        "decode_settings": decode["settings"],
        "first_token_seconds": tried[0]["first_token_seconds"],
        "memory": tried[0]["memory"],
        "system": ll.llama_print_system_info().decode().strip(),
        "tried": tried,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
