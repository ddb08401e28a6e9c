from collections.abc import Callable, Iterable
from os import PathLike
from types import ModuleType
from typing import NamedTuple

from ._types import Array, Ids
from .kit import Tokenizer
from .reference.week1.generate import FinishReason
from .reference.week1.model import Model

class Generation(NamedTuple):
    tokens: list[int]
    text: str | None
    finish_reason: FinishReason

class Llm:
    model: Model
    tokenizer: Tokenizer | None
    def __init__(self, solution: ModuleType, folder: str | PathLike[str]) -> None: ...
    def logits(self, tokens: Ids) -> Array: ...
    def generate(
        self,
        prompt: str | Ids,
        max_new_tokens: int = 64,
        *,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        repetition_penalty: float = 1.0,
        seed: int = 0,
        stop_tokens: Iterable[int] | None = None,
        on_text: Callable[[str], object] | None = None,
    ) -> Generation: ...
