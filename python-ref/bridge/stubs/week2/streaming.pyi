from collections.abc import Sequence
from typing import final

from ..._types import Array, Numbers
from .cache import CacheType

@final
class OnlineSoftmax:
    def __new__(cls) -> OnlineSoftmax: ...
    @property
    def max(self) -> float: ...
    @property
    def total(self) -> float: ...
    def absorb(self, scores: Numbers) -> tuple[Array, float]: ...

def attend_streaming(
    q: Numbers, runs: Sequence[tuple[Numbers, Numbers]], scale: float, cache_type: CacheType = ...
) -> Array: ...
def attend_block(
    q: Numbers,
    visible: Sequence[tuple[int, int]],
    runs: Sequence[tuple[Numbers, Numbers]],
    scale: float,
    cache_type: CacheType = ...,
    start: int = 0,
) -> Array: ...
