from collections.abc import Callable
from typing import final

from ..._types import Array, Ids
from .cache import CacheType
from .model import Model

@final
class Session:
    def __new__(cls, model: Model, context: int, cache_type: CacheType = ...) -> Session: ...
    def feed(self, tokens: Ids, chunk: int) -> Array: ...
    def generate(
        self,
        prompt: Ids,
        chunk: int,
        max_new_tokens: int,
        choose: Callable[[Array, list[int]], int],
    ) -> list[int]: ...
    def keep_prefix(self, tokens: Ids) -> None: ...
    def tokens(self) -> list[int]: ...
    def computed(self) -> int: ...
