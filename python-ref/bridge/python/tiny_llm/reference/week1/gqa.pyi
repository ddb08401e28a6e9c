from numpy.typing import ArrayLike

from ..._types import Array
from .rope import RopeTables

def grouped_query_attention(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, scale: float | None = None, mask: ArrayLike | None = None
) -> Array:
    """`q [B, H_q, L, D]`, `k`, `v [B, H, S, D]` → `[B, H_q, L, D]`; `mask` broadcasts to `[B, H_q, L, S]`."""

def causal_mask(length: int, keys: int) -> Array:
    """`[length, keys]`: 0 keeps a key, −inf removes it."""

class Linear:
    weight: Array
    bias: Array | None
    def __init__(self, weight: ArrayLike, bias: ArrayLike | None = None) -> None: ...
    def forward(self, x: ArrayLike) -> Array: ...

class GroupedQueryAttention:
    """`q_norm` and `k_norm` are the weights `[D]` of an RMSNorm that the bridge brings: the solution's comes on day 4."""

    n_heads: int
    n_kv_heads: int
    q_proj: Linear
    k_proj: Linear
    v_proj: Linear
    o_proj: Linear
    rope: RopeTables
    q_norm: Array | None
    k_norm: Array | None
    norm_eps: float
    def __init__(
        self,
        n_heads: int,
        n_kv_heads: int,
        q_proj: Linear,
        k_proj: Linear,
        v_proj: Linear,
        o_proj: Linear,
        rope: RopeTables,
        q_norm: ArrayLike | None = None,
        k_norm: ArrayLike | None = None,
        norm_eps: float = 1e-6,
    ) -> None: ...
    def forward(self, x: ArrayLike, mask: ArrayLike | None = None) -> Array:
        """`x [B, L, E]` → `[B, L, E]`; `mask` broadcasts to `[B, H_q, L, L]`."""
