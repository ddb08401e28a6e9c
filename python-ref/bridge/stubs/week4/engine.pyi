from collections.abc import Sequence

from ..._types import Array
from ..week2.cache import CacheType
from ..week2.model import Model

def forward(
    model: Model,
    passes: Sequence[Sequence[tuple[int, int, int, bool]]],
    sequences: int = 1,
    cache_type: CacheType = ...,
) -> Array: ...
