"""The PyTorch oracle: plain reference functions for every task, and the fixtures made from them.

`python -m oracle` (inside `python-ref`) writes `tests/fixtures`. `python -m oracle --check` compares.
"""
