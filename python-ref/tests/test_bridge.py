"""The bridge itself: what it converts, what it refuses, and whether its type stubs are true. Both are seen on the reference."""

import ast
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
def test_bridge_refuses_what_is_no_array_of_numbers(wrong):
    with pytest.raises(TypeError, match="expected an array"):
        attention.softmax(wrong)


def test_bridge_refuses_other_axes():
    with pytest.raises(TypeError, match=r"2 axes, got shape \[2, 3, 4\]"):
        attention.linear(np.zeros((5, 4)), np.zeros((2, 3, 4)))


def test_bridge_refuses_what_is_no_token():
    embedding = model.Embedding(np.zeros((3, 4)))
    for wrong in ([[1.0]], [["a"]], [1]):
        with pytest.raises(TypeError, match="expected an array"):
            embedding.forward(wrong)
    for wrong in ([[-1]], [[2**32]]):
        with pytest.raises(ValueError, match="from 0 to 4294967295"):
            embedding.forward(wrong)


def test_bridge_turns_panics_into_exceptions(capfd):
    with pytest.raises(tiny_llm.SolutionPanic, match=r"inner sizes differ, \[5, 4\] × \[3, 2\](.|\n)* at .*\.rs:\d+") as caught:
        attention.linear(np.zeros((5, 4)), np.zeros((2, 3)))
    assert isinstance(caught.value, RuntimeError) and not isinstance(caught.value, tiny_llm.NotImplementedYet)
    assert capfd.readouterr().err == ""


def test_bridge_lets_exceptions_of_callbacks_through():
    def next_logits(tokens):
        raise KeyError("from Python")

    with pytest.raises(KeyError, match="from Python"):
        generate.generate(next_logits, [0], generate.Limits(1, 10), lambda *_: 0, lambda _: None)


def test_bridge_reports_files_by_name(tmp_path):
    with pytest.raises(ValueError, match="config.json"):
        tiny_llm.reference.load(tmp_path)


@pytest.mark.parametrize("stub", sorted(PACKAGE.glob("reference/week*/[a-z]*.pyi")) + [PACKAGE / "kit.pyi"], ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_bridge_type_stubs_are_true(stub):
    module = importlib.import_module(".".join(("tiny_llm", *stub.relative_to(PACKAGE).with_suffix("").parts)))
    declared = {node.name: node for node in ast.parse(stub.read_text()).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert declared.keys() == {name for name in vars(module) if not name.startswith("_")}
    for name, node in declared.items():
        item = getattr(module, name)
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == list(inspect.signature(item).parameters), name
            continue
        members = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef) and n.name != "__init__"}
        fields = {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)} | {t.id for n in node.body if isinstance(n, ast.Assign) for t in n.targets}
        assert members.keys() | fields == {member for member in vars(item) if not member.startswith("_")}, name
        for member, function in members.items():
            if not any(isinstance(d, ast.Name) and d.id == "property" for d in function.decorator_list):
                assert parameters(function) == list(inspect.signature(getattr(item, member)).parameters), f"{name}.{member}"


@pytest.mark.parametrize("week", ["week1", "week2"])
def test_bridge_modules_have_type_stubs(week):
    modules = {name for name, item in vars(getattr(tiny_llm.reference, week)).items() if inspect.ismodule(item)}
    for solution in ("reference", "student"):
        assert {path.stem for path in (PACKAGE / solution / week).glob("[a-z]*.pyi")} == modules, solution


def parameters(function):
    return [argument.arg for argument in function.args.posonlyargs + function.args.args + function.args.kwonlyargs]
