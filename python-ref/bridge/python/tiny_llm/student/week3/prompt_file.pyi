from ..._types import Array, Ids, Numbers
from ..week2.cache import CacheType

def encode(
    tokens: Ids, keys: Numbers, values: Numbers, fingerprint: int, cache_type: CacheType = ...
) -> bytes:
    """The file of `tokens [n]`, with `keys [layers, H, n, D]` and `values [layers, H, n, D]`."""

def decode(
    file: bytes,
    fingerprint: int,
    cache_type: CacheType,
    layers: int,
    kv_heads: int,
    head_dim: int,
) -> tuple[list[int], Array, Array]:
    """The tokens of a file, and its keys and values `[layers, H, n, D]`."""
