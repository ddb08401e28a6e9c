from ..._types import Array, Ids, Numbers
from ..week2.cache import CacheType

def encode(
    tokens: Ids, keys: Numbers, values: Numbers, fingerprint: int, cache_type: CacheType = ...
) -> bytes: ...
def decode(
    file: bytes,
    fingerprint: int,
    cache_type: CacheType,
    layers: int,
    kv_heads: int,
    head_dim: int,
) -> tuple[list[int], Array, Array]: ...
