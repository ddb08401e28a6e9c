"""Brings the type stubs in step with the module that is built: docstrings are those of the running module, which are the
comments in Rust, and the learner's stubs are those of the reference. Signatures are written by hand.

    python python-ref/bridge/stubs.py           # writes
    python python-ref/bridge/stubs.py --check   # says what would be written
"""

import ast
import importlib
import inspect
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent / "python" / "tiny_llm"


def documented(stub, module):
    """The text of a stub, with the docstrings of `module`."""
    lines = stub.read_text(encoding="utf-8").splitlines()
    # From the end, so that the numbers of lines before stay what they are.
    for node, item in reversed(list(declared(ast.parse("\n".join(lines)), module))):
        write(lines, node, None if node.name.startswith("__") else inspect.getdoc(item))
    return "\n".join(lines) + "\n"


def declared(parent, owner):
    """Functions and classes in the order of their lines, and what they are at run time."""
    for node in parent.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            item = getattr(owner, node.name)
            yield node, item
            yield from declared(node, item) if isinstance(node, ast.ClassDef) else ()


def write(lines, node, doc):
    """Puts a docstring into a function or class, in place of the one that is there."""
    first = node.body[0]
    held = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.value.value
    if isinstance(held, str):
        at = first.lineno - 1
        del lines[at : first.end_lineno]
    elif held is ...:
        # `def f(x: int) -> int: ...`
        at = first.lineno
        lines[at - 1] = lines[at - 1].removesuffix(" ...")
    else:
        at = first.lineno - 1 - len(getattr(first, "decorator_list", []))
        while lines[at - 1].lstrip().startswith("#"):
            at -= 1
    while at < len(lines) and not lines[at]:
        del lines[at]
    if doc is None:
        lines[at - 1] += "" if len(node.body) > 1 else " ..."
        return
    indent = " " * (node.col_offset + 4)
    text = [line and indent + line for line in f'"""{doc}'.splitlines()]
    text[-1:] = [text[-1] + '"""'] if len(text) == 1 else [text[-1], f'{indent}"""']
    lines[at:at] = text + [""] * (at < len(lines))


def stubs():
    """Every stub that follows from something else, and its text."""
    for week in ("week1", "week2", "week3", "week4"):
        modules = vars(importlib.import_module(f"tiny_llm.reference.{week}"))
        for stub in sorted(PACKAGE.glob(f"reference/{week}/*.pyi")):
            text = stub.read_text(encoding="utf-8")
            # What only a feature builds may not be there: its docstrings stay as they are.
            if stub.stem in modules:
                text = documented(stub, modules[stub.stem])
            yield stub, text
            yield PACKAGE / "student" / week / stub.name, text
    for name in ("kit", "__init__"):
        stub = PACKAGE / f"{name}.pyi"
        yield stub, documented(stub, importlib.import_module("tiny_llm" if name == "__init__" else f"tiny_llm.{name}"))


def main(check):
    stale = [(path, text) for path, text in stubs() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path, text in stale:
        print(path.relative_to(PACKAGE), "is not in step" if check else "written")
        if not check:
            path.write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
