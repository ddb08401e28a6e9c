from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from ..._types import Array
from ...kit import ModelConfig
from .cache import CacheType

class Model:
    @staticmethod
    def build(config: ModelConfig, weights: Mapping[str, ArrayLike], interleaved: bool = False) -> Model:
        """A model from named arrays; the names are those of Hugging Face checkpoints."""
    def forward(
        self, passes: Sequence[Sequence[tuple[int, int, int, bool]]], sequences: int = 1, cache_type: CacheType = ...
    ) -> Array:
        """Passes of rows `(token, position, sequence, wants logits)` on an empty cache → `[n, V]` of the rows that want them."""
