from numpy.typing import ArrayLike

from ..._types import Array

def softmax(x: ArrayLike) -> Array:
    """Over the last axis."""

def linear(x: ArrayLike, weight: ArrayLike, bias: ArrayLike | None = None) -> Array:
    """`x [..., in]`, `weight [out, in]`, `bias [out]` → `[..., out]`"""

def scaled_dot_product_attention(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, scale: float | None = None, mask: ArrayLike | None = None
) -> Array:
    """`q [..., L, D]`, `k [..., S, D]`, `v [..., S, D]` → `[..., L, D]`; `mask` is added and broadcasts to `[..., L, S]`."""

def split_heads(x: ArrayLike, n_heads: int) -> Array:
    """`[B, L, H·D]` → `[B, H, L, D]`"""

def merge_heads(x: ArrayLike) -> Array:
    """`[B, H, L, D]` → `[B, L, H·D]`"""

class MultiHeadAttention:
    """`q_proj`, `k_proj`, `v_proj [H·D, E]`, `o_proj [E, H·D]`"""

    n_heads: int
    q_proj: Array
    k_proj: Array
    v_proj: Array
    o_proj: Array
    def __init__(self, n_heads: int, q_proj: ArrayLike, k_proj: ArrayLike, v_proj: ArrayLike, o_proj: ArrayLike) -> None: ...
    def forward(self, query: ArrayLike, key: ArrayLike, value: ArrayLike, mask: ArrayLike | None = None) -> Array:
        """`query [B, L, E]`, `key`, `value [B, S, E]` → `[B, L, E]`"""
