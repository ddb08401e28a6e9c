from typing import final

from ..._types import Array, Numbers

def softmax(x: Numbers) -> Array:
    """Softmax over the last axis: `x [..., n]` → the same shape."""

def linear(x: Numbers, weight: Numbers, bias: Numbers | None = None) -> Array:
    """`x [..., L, in]`, `weight [out, in]`, `bias [out]` → `[..., L, out]`"""

def scaled_dot_product_attention(
    q: Numbers, k: Numbers, v: Numbers, scale: float | None = None, mask: Numbers | None = None
) -> Array:
    """`q [..., L, D]`, `k [..., S, D]`, `v [..., S, D]` → `[..., L, D]`; `mask` is added and
    broadcasts to `[..., L, S]`.
    """

def split_heads(x: Numbers, n_heads: int) -> Array:
    """`[B, L, H·D]` → `[B, H, L, D]`"""

def merge_heads(x: Numbers) -> Array:
    """`[B, H, L, D]` → `[B, L, H·D]`"""

@final
class MultiHeadAttention:
    """`q_proj`, `k_proj`, `v_proj [H·D, E]`, `o_proj [E, H·D]`"""

    def __new__(
        cls, n_heads: int, q_proj: Numbers, k_proj: Numbers, v_proj: Numbers, o_proj: Numbers
    ) -> MultiHeadAttention: ...
    @property
    def n_heads(self) -> int:
        """`H`"""

    @property
    def q_proj(self) -> Array:
        """`[H·D, E]`"""

    @property
    def k_proj(self) -> Array:
        """`[H·D, E]`"""

    @property
    def v_proj(self) -> Array:
        """`[H·D, E]`"""

    @property
    def o_proj(self) -> Array:
        """`[E, H·D]`"""

    def forward(
        self, query: Numbers, key: Numbers, value: Numbers, mask: Numbers | None = None
    ) -> Array:
        """`query [B, L, E]`, `key`, `value [B, S, E]` → `[B, L, E]`; `mask` broadcasts to
        `[B, H, L, S]`.
        """
