"""Options of the tests in python-ref/tests. They are declared here because pytest, which does not know them yet when it
looks for its first conftest.py, takes the word after `--solution` for a folder and would not look into python-ref."""


def pytest_addoption(parser):
    parser.addoption("--solution", choices=["student", "reference"], default="student", help="whose code is tested (default: student)")
    parser.addoption("--seed", type=int, default=None, help="what shapes and inputs are drawn from (default: new ones in each run)")
    parser.addoption("--thorough", action="store_true", help="also the tests that take long: mypy, Ctrl-C, odd calls")
