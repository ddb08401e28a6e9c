from typing import final

from ..._types import Array, Numbers
from .rope import RopeTables

def grouped_query_attention(
    q: Numbers, k: Numbers, v: Numbers, scale: float | None = None, mask: Numbers | None = None
) -> Array:
    """`q [B, H_q, L, D]`, `k`, `v [B, H, S, D]` → `[B, H_q, L, D]`; `mask` broadcasts to
    `[B, H_q, L, S]`.
    """

def causal_mask(length: int, keys: int) -> Array:
    """`[length, keys]`: 0 keeps a key, −inf removes it."""

@final
class Linear:
    """A projection: `weight [out, in]`, `bias [out]`."""

    def __new__(cls, weight: Numbers, bias: Numbers | None = None) -> Linear: ...
    @property
    def weight(self) -> Array:
        """`[out, in]`"""

    @property
    def bias(self) -> Array | None:
        """`[out]`, or None."""

    def forward(self, x: Numbers) -> Array:
        """`x [..., L, in]` → `[..., L, out]`"""

@final
class GroupedQueryAttention:
    """The attention layer of Llama, Qwen2 and Qwen3. `q_norm` and `k_norm` are the weights `[D]` of an
    RMSNorm that the bridge brings: the solution's comes on day 4.
    """

    def __new__(
        cls,
        n_heads: int,
        n_kv_heads: int,
        q_proj: Linear,
        k_proj: Linear,
        v_proj: Linear,
        o_proj: Linear,
        rope: RopeTables,
        q_norm: Numbers | None = None,
        k_norm: Numbers | None = None,
        norm_eps: float = 1e-6,
    ) -> GroupedQueryAttention: ...
    @property
    def n_heads(self) -> int:
        """`H_q`"""

    @property
    def n_kv_heads(self) -> int:
        """`H`"""

    @property
    def q_proj(self) -> Linear:
        """`[H_q·D, E]`"""

    @property
    def k_proj(self) -> Linear:
        """`[H·D, E]`"""

    @property
    def v_proj(self) -> Linear:
        """`[H·D, E]`"""

    @property
    def o_proj(self) -> Linear:
        """`[E, H_q·D]`"""

    @property
    def rope(self) -> RopeTables:
        """Tables for as many positions as a sequence has, at least."""

    @property
    def q_norm(self) -> Array | None:
        """`[D]`, or None."""

    @property
    def k_norm(self) -> Array | None:
        """`[D]`, or None."""

    @property
    def norm_eps(self) -> float:
        """What keeps the root of a norm away from 0."""

    def forward(self, x: Numbers, mask: Numbers | None = None) -> Array:
        """`x [B, L, E]` → `[B, L, E]`; `mask` broadcasts to `[B, H_q, L, L]`."""
