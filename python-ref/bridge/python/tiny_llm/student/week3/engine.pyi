from typing import final

from ..week1.generate import FinishReason
from ..week2.cache import CacheType
from ..week2.model import Model
from .request import Request

@final
class Engine:
    """Requests, a model and a cache. The text of token 12 is `<12>` here."""

    def __new__(cls, model: Model, max_batch: int, context: int, cache_type: CacheType = ..., *, budget: int | None = None) -> Engine: ...
    def submit(self, request: Request) -> int:
        """Takes a request and gives it a number."""

    def cancel(self, id: int) -> bool:
        """Ends a request whose client has gone; returns whether there was such a request."""

    def step(self) -> list[tuple[int, int | None, FinishReason | None]]:
        """One forward pass. Of each request that something became of: its number, and its next token
        or why it ended.
        """

    def is_idle(self) -> bool:
        """Whether nothing is left to be done."""

    def counts(self) -> tuple[int, int, int]:
        """Forward passes so far, rows in all of them, and the most rows of one."""
