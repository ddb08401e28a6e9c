"""The type stubs agree with the running module on names, signatures, docstrings, and rejected calls."""

import ast
import enum
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny_llm
from tiny_llm.reference import week1, week2

PACKAGE = Path(tiny_llm.__file__).parent
HERE = Path(__file__).parent

STUBS_ONLY = "tiny_llm\\._types\n"
"""Aliases of types, which exist only for mypy."""

IF_BUILT = "" if hasattr(tiny_llm.reference, "Engine") else "tiny_llm\\.(reference|student)\\.(Engine|Answer)\n"
"""Classes that only `--features serve` builds."""

IF_BUILT += "" if hasattr(tiny_llm.reference.week4, "gpu") else "tiny_llm\\.(reference|student)\\.week4\\.gpu\n"
"""Modules that only `--features gpu` builds."""


def mypy(*arguments):
    environment = os.environ | {"MYPYPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-m", *map(str, arguments)]
    finished = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True)
    return finished.returncode, finished.stdout + finished.stderr


@pytest.mark.thorough
def test_stubs_mypy_agrees_with_the_module():
    code, text = mypy("mypy", "--strict", "typed_calls.py")
    assert code == 0, text
    finished = subprocess.run([sys.executable, "typed_calls.py"], cwd=HERE, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.thorough
def test_stubs_stubtest(tmp_path):
    allowed = tmp_path / "allowed.txt"
    allowed.write_text(STUBS_ONLY + IF_BUILT)
    code, text = mypy("mypy.stubtest", "tiny_llm", "--allowlist", allowed, "--concise")
    assert code == 0, text


def modules():
    """Yields the modules of both solutions, and the one that they share."""
    for solution in (tiny_llm.reference, tiny_llm.student):
        for week in (solution.week1, solution.week2, solution.week3, solution.week4):
            yield from filter(inspect.ismodule, vars(week).values())
    yield tiny_llm.kit


def public():
    """Yields the path of every public function, class and member of `modules()`, and the item."""
    for module in modules():
        yield from members(module.__name__, module)


def members(path, owner):
    for name, item in vars(owner).items():
        if name.startswith("_"):
            continue
        yield f"{path}.{name}", item
        if inspect.isclass(item) and not issubclass(item, enum.Enum):
            yield from members(f"{path}.{name}", item)


def docstrings(stub, item):
    """Yields each function and class in a stub: its name, its docstring, and the docstring at run time."""
    for node in stub.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("__"):
            member = getattr(item, node.name)
            yield node.name, ast.get_docstring(node), inspect.getdoc(member)
            yield from docstrings(node, member) if isinstance(node, ast.ClassDef) else ()


@pytest.mark.parametrize("module", [tiny_llm, *modules()], ids=lambda module: module.__name__)
def test_stubs_docstrings_match_the_module(module):
    path = PACKAGE.joinpath(*module.__name__.split(".")[1:])
    stub = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
    for name, found, expected in docstrings(ast.parse(stub.read_text(encoding="utf-8")), module):
        assert found == expected, name


@pytest.mark.parametrize("path, item", list(public()))
def test_stubs_every_item_has_a_docstring(path, item):
    assert inspect.getdoc(item), f"{path} has no docstring"


def objects():
    linear = week1.gqa.Linear(np.ones((4, 4)))
    rope = week1.rope.RopeTables.from_arrays(np.ones((5, 1)), np.ones((5, 1)))
    attention = week1.gqa.GroupedQueryAttention(2, 1, linear, *[week1.gqa.Linear(np.ones((2, 4)))] * 2, linear, rope)
    norm, mlp = week1.norm.RmsNorm(np.ones(4), 1e-6), week1.mlp.SwiGlu(*np.ones((3, 4, 4)))
    options, rng = week1.sampling.SamplerOptions(temperature=0.5, top_k=3), week1.sampling.Rng(7)
    llm = tiny_llm.reference.load(HERE.parents[1] / "models" / "tiny-story")
    yield linear, "Linear(out=4, in=4, bias=False)"
    yield rope, "RopeTables(positions=5, head_dim=2)"
    yield attention, "GroupedQueryAttention(n_heads=2, n_kv_heads=1, head_dim=2, hidden_size=4)"
    yield norm, "RmsNorm(size=4, eps=1e-6)"
    yield mlp, "SwiGlu(hidden_size=4, intermediate_size=4)"
    yield week1.model.TransformerBlock(norm, attention, norm, mlp), "TransformerBlock(hidden_size=4)"
    yield week1.model.Embedding(np.ones((7, 4))), "Embedding(vocab_size=7, hidden_size=4)"
    yield week1.attention.MultiHeadAttention(2, *np.ones((4, 4, 4))), "MultiHeadAttention(n_heads=2, q_proj=[4, 4])"
    yield week1.generate.Limits(3, 9, {2, 1}), "Limits(max_new_tokens=3, context=9, stop_tokens=[1, 2])"
    yield options, "SamplerOptions(temperature=0.5, top_k=3, top_p=1, min_p=0, repetition_penalty=1)"
    yield week1.sampling.Sampler(options, rng), "Sampler(SamplerOptions(temperature=0.5, top_k=3, top_p=1, min_p=0, repetition_penalty=1))"
    yield rng, "Rng(seed=...)"
    yield week1.stream.TextStream(), "TextStream()"
    yield week2.cache.DenseCache(1, 2, 3, 4, 5), "DenseCache(layers=1, sequences=2, kv_heads=3, capacity=4, head_dim=5, cache_type=CacheType.F32)"
    yield week2.streaming.OnlineSoftmax(), "OnlineSoftmax(max=-inf, total=0)"
    yield week2.roofline.Machine(1e9, 2e10), "Machine(bandwidth=1e9, operations=2e10)"
    yield llm.model, "Model(Qwen3, layers="
    yield llm.model.config, "ModelConfig { family: Qwen3"
    yield llm, "Llm(Model(Qwen3"
    yield llm.tokenizer, "Tokenizer("


@pytest.mark.parametrize("made, text", list(objects()), ids=lambda x: type(x).__name__ if not isinstance(x, str) else "")
def test_stubs_repr_names_the_object(made, text):
    assert repr(made).startswith(text)
