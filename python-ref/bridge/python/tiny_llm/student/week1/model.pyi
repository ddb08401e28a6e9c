from collections.abc import Mapping, Sequence
from typing import final

from ..._types import Array, Ids, Numbers
from ...kit import ModelConfig
from .gqa import GroupedQueryAttention, Linear
from .mlp import SwiGlu
from .norm import RmsNorm

@final
class Embedding:
    """One row per token: `weight [V, E]`."""

    def __new__(cls, weight: Numbers) -> Embedding: ...
    @property
    def weight(self) -> Array:
        """`[V, E]`"""

    def forward(self, tokens: Ids) -> Array:
        """`[B, L]` → `[B, L, E]`"""

    def as_output(self, x: Numbers) -> Array:
        """The tied output head: `x [..., L, E]` → `[..., L, V]`"""

@final
class TransformerBlock:
    """One layer: attention and MLP, each behind a norm and beside a residual connection."""

    def __new__(
        cls,
        input_norm: RmsNorm,
        attention: GroupedQueryAttention,
        post_attention_norm: RmsNorm,
        mlp: SwiGlu,
    ) -> TransformerBlock: ...
    @property
    def input_norm(self) -> RmsNorm:
        """Before attention."""

    @property
    def attention(self) -> GroupedQueryAttention:
        """Self-attention."""

    @property
    def post_attention_norm(self) -> RmsNorm:
        """Before the MLP."""

    @property
    def mlp(self) -> SwiGlu:
        """The gated MLP."""

    def forward(self, x: Numbers, mask: Numbers | None = None) -> Array:
        """`x [B, L, E]` → `[B, L, E]`"""

@final
class Model:
    """A decoder-only transformer."""

    def __new__(
        cls,
        config: ModelConfig,
        embedding: Embedding,
        blocks: Sequence[TransformerBlock],
        norm: RmsNorm,
        lm_head: Linear | None = None,
    ) -> Model: ...
    @staticmethod
    def build(config: ModelConfig, weights: Mapping[str, Numbers]) -> Model:
        """A model from named arrays; the names are those of Hugging Face checkpoints."""

    @property
    def config(self) -> ModelConfig:
        """What the checkpoint's `config.json` says."""

    def context(self) -> int:
        """The longest sequence."""

    def forward(self, tokens: Ids) -> Array:
        """`[B, L]` → logits `[B, L, V]`"""

    def activations(self, tokens: Ids) -> dict[str, Array]:
        """What each part of the model gives, in the order of computation.

        `embedding`, then for each layer `layers.0.input_norm`, `.attention`,
        `.post_attention_norm`, `.mlp` and `layers.0` itself, then `norm` and `logits`. Each part
        gets what the solution's own parts before it gave; `logits` alone is the result of
        `forward`.
        """
