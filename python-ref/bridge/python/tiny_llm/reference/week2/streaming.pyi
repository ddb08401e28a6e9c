from collections.abc import Sequence
from typing import final

from ..._types import Array, Numbers
from .cache import CacheType

@final
class OnlineSoftmax:
    """A softmax whose scores come in pieces: what has been seen so far."""

    def __new__(cls) -> OnlineSoftmax: ...
    @property
    def max(self) -> float:
        """The largest score; −inf before the first."""

    @property
    def total(self) -> float:
        """The sum of `e^(score − max)`."""

    def absorb(self, scores: Numbers) -> tuple[Array, float]:
        """The weights that `scores [n]` become, and the factor for what was weighted before."""

def attend_streaming(
    q: Numbers, runs: Sequence[tuple[Numbers, Numbers]], scale: float, cache_type: CacheType = ...
) -> Array:
    """`q [G, D]`; a run is keys `[n, D]` and values `[n, D]` → `[G, D]`"""

def attend_block(
    q: Numbers,
    visible: Sequence[tuple[int, int]],
    runs: Sequence[tuple[Numbers, Numbers]],
    scale: float,
    cache_type: CacheType = ...,
    start: int = 0,
) -> Array:
    """`q [N, D]`, of which query `n` sees positions `visible[n][0]` to `visible[n][1]` − 1; the first
    run begins at `start` → `[N, D]`
    """
