"""Runs a published model, SmolLM2-135M-Instruct, in our engine and in PyTorch.

`cargo course verify --only real` downloads the model and runs these tests. By hand:

    cargo build --release --features serve,reference --bin tiny-llm-serve
    TINY_LLM_SERVE=target/release/tiny-llm-serve TINY_LLM_REAL=MODEL.gguf .venv/bin/python -m pytest python-ref/real

`--thorough` adds more positions on slow rungs, and slow comparisons. llama.cpp is compared if the extra `peers` is installed.
"""

import copy
import json
import os
import re
import subprocess
import urllib.request
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from safetensors.numpy import load_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

FIGURES = pytest.StashKey()


def pytest_configure(config):
    config.stash[FIGURES] = []


def pytest_terminal_summary(terminalreporter, config):
    for line in config.stash[FIGURES]:
        terminalreporter.write_line(f"figure: {line}")


@pytest.fixture
def figure(request):
    """Returns a function that takes a line, which is printed after the tests."""
    return request.config.stash[FIGURES].append


@pytest.fixture(scope="session")
def path():
    return Path(os.environ["TINY_LLM_REAL"]).resolve()


class Engine:
    """Runs the command-line program with the model."""

    def __init__(self, path, folder):
        self.program, self.path, self.folder = Path(os.environ["TINY_LLM_SERVE"]).resolve(), path, folder

    def run(self, command, *options, model=None, kernels=None):
        """Runs a command. Returns its standard output and standard error."""
        # One thread, because two threads on two busy cores wait for each other.
        words = [self.program, command, *options, "-j", "1", "--model", model or self.path]
        if kernels:
            words += ["--kernels", kernels]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    def logits(self, tokens, *options, **where):
        out = self.folder / "logits.safetensors"
        self.run("logits", "--tokens", ",".join(map(str, tokens)), "--out", out, *options, **where)
        return load_file(out)["logits"].astype(np.float64)

    def batch(self, requests, *options):
        """Returns the answers to a list of requests."""
        file, out = self.folder / "requests.jsonl", self.folder / "answers.jsonl"
        file.write_text("".join(json.dumps(request) + "\n" for request in requests))
        out.unlink(missing_ok=True)
        _, self.said = self.run("batch", file, "--out", out, *options)
        return [json.loads(line)["text"] for line in out.read_text().splitlines()]

    def rungs(self):
        """Returns the rungs of this machine, slowest first."""
        names = "naive fused integer avx2 avx512-vnni amx neon neon-dot neon-i8mm".split()
        command = [self.program, "logits", "-j", "1", "--model", self.path, "--tokens", "1", "--out", self.folder / "one.safetensors", "--kernels"]
        return [name for name in names if subprocess.run([*command, name], capture_output=True).returncode == 0]


@pytest.fixture(scope="session")
def engine(path, tmp_path_factory):
    return Engine(path, tmp_path_factory.mktemp("engine"))


@pytest.fixture(scope="session")
def post(engine):
    """`post(path, body)` sends a request to a server with the model."""
    arguments = ["serve", "--model", engine.path, "-j", "1", "--port", "0", "--pages", "128", "--share-prefixes"]
    with subprocess.Popen([engine.program, *arguments], stderr=subprocess.PIPE, text=True) as server:
        said = ""
        for line in server.stderr:
            said += line
            if found := re.search(r"(http://\S+)", line):
                break
        else:
            raise RuntimeError(f"the server ended: {said}")

        def ask(where, body):
            request = urllib.request.Request(found[1] + where, json.dumps(body).encode(), {"content-type": "application/json"})
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)

        yield ask
        server.terminate()


@pytest.fixture(scope="session")
def reader(path):
    return GGUFReader(path)


@pytest.fixture(scope="session")
def tokenizer(reader):
    """Builds a tokenizer of `tokenizers` from the file's vocabulary and merges, with the published pre-tokenizer."""
    field = lambda name: reader.fields[f"tokenizer.ggml.{name}"].contents()
    assert (field("model"), field("pre"), field("add_bos_token")) == ("gpt2", "smollm", False)
    tokens = field("tokens")
    merges = [tuple(merge.split(" ")) for merge in field("merges")]
    found = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    found.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    found.decoder = decoders.ByteLevel()
    found.add_special_tokens([AddedToken(token, normalized=False) for token, kind in zip(tokens, field("token_type")) if kind == 3])
    special = {f"{name}_token": tokens[field(f"{name}_token_id")] for name in ("bos", "eos")}
    template = reader.fields["tokenizer.chat_template"].contents()
    return PreTrainedTokenizerFast(tokenizer_object=found, chat_template=template, **special)


@pytest.fixture(scope="session")
def torch_model(reader):
    """Builds PyTorch's model with the dequantized weights."""
    field = lambda name: reader.fields[f"llama.{name}"].contents()
    heads, kv_heads, width = field("attention.head_count"), field("attention.head_count_kv"), field("embedding_length")
    config = LlamaConfig(
        vocab_size=field("vocab_size"),
        hidden_size=width,
        intermediate_size=field("feed_forward_length"),
        num_hidden_layers=field("block_count"),
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=field("context_length"),
        rms_norm_eps=field("attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": field("rope.freq_base")},
        tie_word_embeddings=True,
        bos_token_id=1,
        eos_token_id=2,
    )
    names = {
        "token_embd": "model.embed_tokens", "output_norm": "model.norm", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
        "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
        "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    }  # fmt: skip
    weights = {}
    for tensor in reader.tensors:
        *layer, name, _ = tensor.name.split(".")
        weight = dequantize(tensor.data, tensor.tensor_type).reshape(tensor.shape[::-1])
        if name in ("attn_q", "attn_k"):
            # In the file, the two rows of a pair are adjacent. PyTorch expects two halves per head.
            weight = weight.reshape(heads if name == "attn_q" else kv_heads, -1, 2, width).swapaxes(1, 2).reshape(weight.shape)
        place = f"model.layers.{layer[1]}." if layer else ""
        weights[f"{place}{names[name]}.weight"] = torch.tensor(weight)
    model = LlamaForCausalLM(config)
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert (missing, unexpected) == (["lm_head.weight"], [])
    model.tie_weights()
    return model.eval()


def logits_of(model):
    @torch.no_grad()
    def logits(tokens):
        return model(torch.tensor([list(map(int, tokens))])).logits[0].double().numpy()

    return logits


@pytest.fixture(scope="session")
def single(torch_model):
    """`single(tokens)`: PyTorch's logits, computed in f32."""
    return logits_of(torch_model)


@pytest.fixture(scope="session")
def exact(torch_model):
    """`exact(tokens)`: PyTorch's logits, computed in f64."""
    return logits_of(copy.deepcopy(torch_model).double())


@pytest.fixture(scope="session")
def folder(torch_model, tokenizer, tmp_path_factory):
    """Writes a Hugging Face folder with the dequantized weights in f32, for week 1's engine."""
    folder = tmp_path_factory.mktemp("folder")
    torch_model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
