"""Which solution is tested, and with which seed."""

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


@pytest.fixture
def week1(solution):
    return solution.week1


@pytest.fixture
def week2(solution):
    return solution.week2


@pytest.fixture
def week3(solution):
    return solution.week3


@pytest.fixture
def week4(solution):
    return solution.week4


@pytest.fixture
def draws(request):
    """Sources of fresh shapes and inputs; a test runs once for each."""

    def each():
        for number in range(1, DRAWS + 1):
            request.node.draw = number
            yield Draw(f"{request.config.option.seed} {request.node.originalname} {number}")

    return each()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and hasattr(item, "draw"):
        report.sections.append(("Drawn inputs", f"draw {item.draw} of {DRAWS}; the same again: --seed {item.config.option.seed}"))
    return report
