from collections.abc import Callable
from typing import final

from ..._types import Array, Ids
from .cache import CacheType
from .model import Model

@final
class Session:
    """A model and one sequence in its cache. A call that Ctrl-C ends goes on in the background to the
    end of its part; the next call waits for that.
    """

    def __new__(cls, model: Model, context: int, cache_type: CacheType = ...) -> Session: ...
    def feed(self, tokens: Ids, chunk: int) -> Array:
        """Logits `[V]` after the last of `tokens`, which follow those in the cache."""

    def generate(
        self,
        prompt: Ids,
        chunk: int,
        max_new_tokens: int,
        choose: Callable[[Array, list[int]], int],
    ) -> list[int]:
        """New tokens, of which `choose(logits, tokens)` picks each."""

    def keep_prefix(self, tokens: Ids) -> None:
        """Forgets what the sequence does not have in common with `tokens`, and their last token."""

    def tokens(self) -> list[int]:
        """The sequence so far."""

    def computed(self) -> int:
        """How many positions have been computed so far."""
