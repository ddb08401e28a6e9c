from collections.abc import Sequence
from typing import final

@final
class Scheduler:
    """Shares a budget of rows among the requests of a step."""

    def __new__(cls, budget: int, reserved: int) -> Scheduler: ...
    def shares(self, loads: Sequence[tuple[int, bool, int]]) -> list[int]:
        """How many rows each request gets, the oldest first; a load is `(left, decoding, waited)`."""

    def decoding_rows(self, loads: Sequence[tuple[int, bool, int]]) -> int:
        """How many rows of the step go to requests that decode."""

def share_prompts(loads: Sequence[tuple[int, bool, int]], rows: int) -> list[int]:
    """The shares when `rows` rows go to prompts, the oldest first."""

def take_turns(loads: Sequence[tuple[int, bool, int]], rows: int) -> list[int]:
    """The shares when `rows` of the requests that decode get a row each, those that have waited longest."""
