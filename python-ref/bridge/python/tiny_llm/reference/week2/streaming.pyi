from collections.abc import Sequence

from numpy.typing import ArrayLike

from ..._types import Array
from .cache import CacheType

class OnlineSoftmax:
    def __init__(self) -> None: ...
    @property
    def max(self) -> float: ...
    @property
    def total(self) -> float: ...
    def absorb(self, scores: ArrayLike) -> tuple[Array, float]:
        """The weights that `scores [n]` become, and the factor for what was weighted before."""

def attend_streaming(q: ArrayLike, runs: Sequence[tuple[ArrayLike, ArrayLike]], scale: float, cache_type: CacheType = ...) -> Array:
    """`q [G, D]`; a run is keys `[n, D]` and values `[n, D]` → `[G, D]`"""

def attend_block(
    q: ArrayLike,
    visible: Sequence[tuple[int, int]],
    runs: Sequence[tuple[ArrayLike, ArrayLike]],
    scale: float,
    cache_type: CacheType = ...,
    start: int = 0,
) -> Array:
    """`q [N, D]`, of which query `n` sees positions `visible[n][0]` to `visible[n][1]` - 1; the first run begins at `start` → `[N, D]`"""
