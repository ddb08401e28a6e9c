import enum
from collections.abc import Callable, Set
from typing import final

from ..._types import Array, Ids, Numbers
from .model import Model

def argmax(logits: Numbers) -> int: ...
def next_token_logits(model: Model, tokens: Ids) -> Array: ...

@final
class Limits:
    def __new__(cls, max_new_tokens: int, context: int, stop_tokens: Set[int] = ...) -> Limits: ...
    @property
    def max_new_tokens(self) -> int: ...
    @property
    def context(self) -> int: ...
    @property
    def stop_tokens(self) -> set[int]: ...

class FinishReason(enum.Enum):
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
) -> FinishReason: ...
