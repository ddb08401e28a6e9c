import enum
from typing import final

from ..._types import Array, Numbers

class CacheType(enum.Enum):
    F32 = "f32"
    F16 = "f16"

@final
class DenseCache:
    def __new__(
        cls,
        layers: int,
        sequences: int,
        kv_heads: int,
        capacity: int,
        head_dim: int,
        cache_type: CacheType = ...,
    ) -> DenseCache: ...
    def write(
        self, layer: int, sequence: int, position: int, keys: Numbers, values: Numbers
    ) -> None: ...
    def run(
        self, layer: int, sequence: int, head: int, start: int, end: int
    ) -> tuple[Array, Array]: ...
