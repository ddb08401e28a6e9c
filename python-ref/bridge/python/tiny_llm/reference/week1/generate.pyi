import enum
from collections.abc import Callable, Set

from numpy.typing import ArrayLike

from ..._types import Array, Ids
from .model import Model

def argmax(logits: ArrayLike) -> int: ...
def next_token_logits(model: Model, tokens: Ids) -> Array:
    """`[L]` → `[V]`"""

class Limits:
    max_new_tokens: int
    context: int
    stop_tokens: set[int]
    def __init__(self, max_new_tokens: int, context: int, stop_tokens: Set[int] = ...) -> None: ...

class FinishReason(enum.Enum):
    Stop = ...
    Length = ...
    ContextFull = ...
    Interrupted = ...

def generate(
    next_logits: Callable[[list[int]], ArrayLike],
    prompt: Ids,
    limits: Limits,
    choose: Callable[[Array, list[int]], int],
    on_token: Callable[[int], object],
) -> FinishReason:
    """`on_token` ends the generation by returning something true."""
