import enum
from collections.abc import Callable, Set
from typing import final

from ..._types import Array, Ids, Numbers
from .model import Model

def argmax(logits: Numbers) -> int:
    """The index of the largest of `logits [V]`; of equal ones, the first."""

def next_token_logits(model: Model, tokens: Ids) -> Array:
    """Logits `[V]` of the token that follows `tokens [L]`."""

@final
class Limits:
    """When a generation ends: after so many new tokens, at so many tokens in all, or at one of
    `stop_tokens`.
    """

    def __new__(cls, max_new_tokens: int, context: int, stop_tokens: Set[int] = ...) -> Limits: ...
    @property
    def max_new_tokens(self) -> int:
        """At most so many new tokens."""

    @property
    def context(self) -> int:
        """At most so many tokens, prompt included."""

    @property
    def stop_tokens(self) -> set[int]:
        """Each of these ends the text and is no part of it."""

class FinishReason(enum.Enum):
    """Why a generation ended."""

    Stop = "stop"
    Length = "length"
    ContextFull = "context full"
    Interrupted = "interrupted"
    NotFinite = "not finite"
def generate(
    next_logits: Callable[[list[int]], Numbers],
    prompt: Ids,
    limits: Limits,
    choose: Callable[[Array, list[int]], int],
    on_token: Callable[[int], object],
) -> FinishReason:
    """Extends `prompt` by the tokens that `choose(logits, tokens)` picks of `next_logits(tokens)`.
    `on_token` ends the generation by returning something true.
    """
