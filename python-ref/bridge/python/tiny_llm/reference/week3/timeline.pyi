from collections.abc import Sequence
from typing import final

@final
class Record:
    """When what happened to a request. A moment is a pair: steps and rows so far."""

    def __new__(cls, steps: int, rows: int) -> Record: ...
    def token(self, steps: int, rows: int) -> None:
        """A token was chosen at this moment, which is not before the one before."""

    def time_to_first_token(self) -> tuple[int, int] | None:
        """Steps and rows from its coming to its first token."""

    def longest_gap(self) -> tuple[int, int]:
        """The most steps and the most rows between a token and the next."""

def quantile(values: Sequence[int], q: float) -> int | None:
    """The `q`-quantile of whole numbers, by nearest rank."""
