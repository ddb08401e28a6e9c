"""`python -m oracle [--check] [DAY ...]`: writes the fixtures of every day, or prints how the committed ones differ."""

import argparse
import importlib
import inspect
import sys
from pathlib import Path

# Makes `python python-ref/oracle/__main__.py` work from any folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch  # noqa: E402

from oracle.fixtures import Fixtures  # noqa: E402


def case_functions(module):
    """Returns the functions of a day's module whose only parameter is `out`, in the order of the file."""
    own = [item for item in vars(module).values() if inspect.isfunction(item) and item.__module__ == module.__name__]
    return [function for function in own if list(inspect.signature(function).parameters) == ["out"]]


def main():
    days = [*sorted(path.stem for path in Path(__file__).parent.glob("week*_day*.py")), "show", "text", "gguf_text", "schemas"]
    parser = argparse.ArgumentParser(prog="python -m oracle", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the committed files instead of writing them")
    parser.add_argument("day", nargs="*", help=f"one of {', '.join(days)}; default: all")
    arguments = parser.parse_args()
    for day in arguments.day:
        if day not in days:
            parser.error(f"no day {day!r}; there are {', '.join(days)}")

    torch.set_num_threads(1)  # the same order of summation on every machine
    failed = False
    for day in arguments.day or days:
        module = importlib.import_module(f"oracle.{day}")
        out = getattr(module, "FIXTURES", Fixtures)(day)
        for write in case_functions(module):
            write(out)
        if not arguments.check:
            out.write()
            print(f"{day}: {len(out.about)} cases, {out.path().stat().st_size} bytes")
        elif differences := out.differences():
            failed = True
            print("\n".join(differences))
        else:
            print(f"{day}: {len(out.about)} cases as committed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
