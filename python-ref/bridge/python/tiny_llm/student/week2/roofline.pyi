from collections.abc import Sequence
from typing import final

def work(tensors: Sequence[tuple[str, Sequence[int], str]]) -> tuple[int, int]:
    """Bytes and multiply-adds of a pass over tensors of this name, shape (slowest axis first) and
    type.
    """

@final
class Machine:
    """What a machine can do: bytes read and operations computed in a second."""

    def __new__(cls, bandwidth: float, operations: float) -> Machine: ...
    def seconds(self, work: tuple[int, int], rows: int) -> float:
        """The fewest seconds of a pass of `rows` rows; `work` is bytes and multiply-adds."""

    def tokens_per_second(self, work: tuple[int, int], rows: int) -> float:
        """The most tokens in a second, at `rows` in each pass."""

    def balanced_rows(self, work: tuple[int, int]) -> float:
        """Rows at which a pass takes as long to compute as to read."""
