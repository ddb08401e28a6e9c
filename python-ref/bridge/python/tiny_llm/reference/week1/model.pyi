from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from ..._types import Array, Ids
from ...kit import ModelConfig
from .gqa import GroupedQueryAttention, Linear
from .mlp import SwiGlu
from .norm import RmsNorm

class Embedding:
    weight: Array
    def __init__(self, weight: ArrayLike) -> None: ...
    def forward(self, tokens: Ids) -> Array:
        """`[B, L]` → `[B, L, E]`"""
    def as_output(self, x: ArrayLike) -> Array:
        """`[..., E]` → `[..., V]`"""

class TransformerBlock:
    input_norm: RmsNorm
    attention: GroupedQueryAttention
    post_attention_norm: RmsNorm
    mlp: SwiGlu
    def __init__(
        self, input_norm: RmsNorm, attention: GroupedQueryAttention, post_attention_norm: RmsNorm, mlp: SwiGlu
    ) -> None: ...
    def forward(self, x: ArrayLike, mask: ArrayLike | None = None) -> Array:
        """`x [B, L, E]` → `[B, L, E]`"""

class Model:
    config: ModelConfig
    def __init__(
        self,
        config: ModelConfig,
        embedding: Embedding,
        blocks: Sequence[TransformerBlock],
        norm: RmsNorm,
        lm_head: Linear | None = None,
    ) -> None: ...
    @staticmethod
    def build(config: ModelConfig, weights: Mapping[str, ArrayLike]) -> Model:
        """A model from named arrays; the names are those of Hugging Face checkpoints."""
    def context(self) -> int:
        """The longest sequence."""
    def forward(self, tokens: Ids) -> Array:
        """`[B, L]` → logits `[B, L, V]`"""
    def activations(self, tokens: Ids) -> dict[str, Array]:
        """What each part of the model gives, in the order of computation.

        `embedding`, then for each layer `layers.0.input_norm`, `.attention`, `.post_attention_norm`, `.mlp` and `layers.0`
        itself, then `norm` and `logits`.
        """
