"""Tests of the bridge itself, on the reference: conversions, exceptions and panics."""

import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest
import tiny_llm
import torch
from tiny_llm.reference.week1 import attention, generate, model

PACKAGE = Path(tiny_llm.__file__).parent


def test_bridge_modules_can_be_imported():
    for solution in ("student", "reference"):
        module = importlib.import_module(f"tiny_llm.{solution}.week1.attention")
        assert module is getattr(tiny_llm, solution).week1.attention
        assert module.softmax.__module__ == module.MultiHeadAttention.__module__ == f"tiny_llm.{solution}.week1.attention"


def test_bridge_converts_arrays():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    expected = attention.softmax(x)
    assert expected.dtype == np.float32
    spaced = np.zeros((3, 8), np.float32)[:, ::2]
    spaced[:] = x
    turned, column_major = x[::-1].copy()[::-1], np.asfortranarray(x)
    for same in (x.astype(np.float64), x.astype(">f4"), x.astype(int), x.tolist(), spaced, turned, column_major, torch.tensor(x)):
        assert np.array_equal(attention.softmax(same), expected), type(same)


@pytest.mark.parametrize("wrong", [True, "text", None, 1j, [[1.0, 2.0], [3.0]], 3.0], ids=repr)
def test_bridge_rejects_non_numeric_arrays(wrong):
    with pytest.raises(TypeError, match="expected an array"):
        attention.softmax(wrong)


def test_bridge_rejects_invalid_tokens():
    embedding = model.Embedding(np.zeros((3, 4)))
    for wrong in ([[1.0]], [["a"]]):
        with pytest.raises(TypeError, match="expected an array"):
            embedding.forward(wrong)
    with pytest.raises(ValueError, match=r"2 axes, got shape \[1\]"):
        embedding.forward([1])
    for wrong in ([[-1]], [[2**32]]):
        with pytest.raises(ValueError, match="from 0 to 4294967295"):
            embedding.forward(wrong)


def test_bridge_turns_panics_into_exceptions(capfd):
    with pytest.raises(tiny_llm.SolutionPanic, match=r"something is wrong(.|\n)* at .*\.rs:\d+") as caught:
        tiny_llm._bridge._panic("something is wrong")
    assert isinstance(caught.value, RuntimeError) and not isinstance(caught.value, tiny_llm.NotImplementedYet)
    assert capfd.readouterr().err == ""
    with pytest.raises(tiny_llm.NotImplementedYet, match="week9-day9 task 9"):
        tiny_llm._bridge._panic("not yet implemented: week9-day9 task 9")


def test_bridge_propagates_exceptions_of_callbacks():
    def next_logits(tokens):
        raise KeyError("from Python")

    with pytest.raises(KeyError, match="from Python"):
        generate.generate(next_logits, [0], generate.Limits(1, 10), lambda *_: 0, lambda _: None)


def test_bridge_reports_files_by_name(tmp_path):
    with pytest.raises(ValueError, match="config.json"):
        tiny_llm.reference.load(tmp_path)


@pytest.mark.parametrize("week", ["week1", "week2", "week3", "week4"])
def test_bridge_modules_have_type_stubs(week):
    modules = {name for name, item in vars(getattr(tiny_llm.reference, week)).items() if inspect.ismodule(item)}
    modules |= {"gpu"} if week == "week4" else set()  # built only with `--features gpu`
    for solution in ("reference", "student"):
        assert {path.stem for path in (PACKAGE / solution / week).glob("[a-z]*.pyi")} == modules, solution
