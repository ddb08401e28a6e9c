import enum
from typing import final

from ..._types import Array, Numbers

class CacheType(enum.Enum):
    """How cached numbers are stored."""

    F32 = "f32"
    F16 = "f16"
@final
class DenseCache:
    """Keys and values of every position of every sequence."""

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
    ) -> None:
        """Stores `keys [H, D]` and `values [H, D]` of a position."""

    def run(
        self, layer: int, sequence: int, head: int, start: int, end: int
    ) -> tuple[Array, Array]:
        """Keys `[n, D]` and values `[n, D]` of a head's positions `start` to `end` − 1, as float32."""
