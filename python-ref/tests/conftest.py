"""Chooses the solution and the seed."""

import inspect
import random

import pytest

from live import DRAWS, Draw

BUILD = "build it with `maturin develop --release` (python-ref/README.md says how)"

try:
    import tiny_llm
except ImportError as error:
    raise pytest.UsageError(f"the bridge `tiny_llm` cannot be imported ({error}): {BUILD}") from error


def pytest_configure(config):
    if config.option.seed is None:
        config.option.seed = random.SystemRandom().randrange(10**9)


def pytest_collection_modifyitems(config, items):
    if not config.option.thorough:
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


def pytest_report_header(config):
    lines = [f"solution: {config.option.solution}, seed: {config.option.seed} (repeat these draws with --seed {config.option.seed})"]
    if not config.option.thorough:
        lines.append("--thorough adds mypy, Ctrl-C and thousands of odd calls")
    return lines


@pytest.fixture
def solution(request):
    return getattr(tiny_llm, request.config.option.solution)


def week(name):
    return pytest.fixture(lambda solution: getattr(solution, name), name=name)


week1, week2, week3, week4 = map(week, ("week1", "week2", "week3", "week4"))


@pytest.fixture
def r():
    """Provides fresh shapes and inputs. A test that takes it runs `DRAWS` times, each with a new source."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    names = inspect.signature(pyfuncitem.obj).parameters
    if "r" not in names:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    for number in range(1, DRAWS + 1):
        pyfuncitem.draw = number
        pyfuncitem.obj(**arguments | {"r": Draw(f"{pyfuncitem.config.option.seed} {pyfuncitem.originalname} {number}", number)})
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and hasattr(item, "draw"):
        report.sections.append(("Drawn inputs", f"draw {item.draw} of {DRAWS}; the same again: --seed {item.config.option.seed}"))
    return report
