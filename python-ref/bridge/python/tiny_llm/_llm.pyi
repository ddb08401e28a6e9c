from collections.abc import Callable, Iterable
from os import PathLike
from types import ModuleType
from typing import Generic, NamedTuple, TypeVar

from . import student
from ._types import Array, Ids
from .kit import Tokenizer
from .reference.week1.generate import FinishReason

M = TypeVar("M")

class Generation(NamedTuple):
    """The result of a generation. `text` is None unless the prompt was a text."""

    tokens: list[int]
    text: str | None
    finish_reason: FinishReason | student.week1.generate.FinishReason

class Llm(Generic[M]):
    """A solution's model, from a folder or by name. Without a tokenizer in the folder, prompts must be token ids."""

    model: M
    tokenizer: Tokenizer | None
    def __init__(self, solution: ModuleType, folder: str | PathLike[str]) -> None: ...
    def logits(self, tokens: Ids) -> Array:
        """Returns the logits of every position: `[L]` → `[L, V]`, `[B, L]` → `[B, L, V]`."""

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
    ) -> Generation:
        """Continues `prompt`, a text or token ids. Decoding is greedy unless `temperature` is above 0.

        `stop_tokens` defaults to the checkpoint's tokens. If the prompt is a text, `on_text` receives each new piece of
        text.
        """
