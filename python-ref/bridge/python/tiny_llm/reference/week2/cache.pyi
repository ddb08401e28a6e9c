import enum

from numpy.typing import ArrayLike

from ..._types import Array

class CacheType(enum.Enum):
    F32 = ...
    F16 = ...

class DenseCache:
    def __init__(
        self, layers: int, sequences: int, kv_heads: int, capacity: int, head_dim: int, cache_type: CacheType = ...
    ) -> None: ...
    def write(self, layer: int, sequence: int, position: int, keys: ArrayLike, values: ArrayLike) -> None:
        """`keys [H, D]`, `values [H, D]`"""
    def run(self, layer: int, sequence: int, head: int, start: int, end: int) -> tuple[Array, Array]:
        """Keys `[n, D]` and values `[n, D]` of a head's positions `start` to `end` - 1, as float32."""
