from collections.abc import Mapping, Sequence
from typing import NoReturn, final

from ..._types import Array, Numbers
from ...kit import ModelConfig
from .cache import CacheType

@final
class Model:
    # It is made by `build`.
    def __new__(cls, never: NoReturn, /) -> Model: ...
    @staticmethod
    def build(
        config: ModelConfig, weights: Mapping[str, Numbers], interleaved: bool = False
    ) -> Model: ...
    def forward(
        self,
        passes: Sequence[Sequence[tuple[int, int, int, bool]]],
        sequences: int = 1,
        cache_type: CacheType = ...,
    ) -> Array: ...
