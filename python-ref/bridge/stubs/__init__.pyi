from collections.abc import Sequence
from os import PathLike
from typing import final

from .._llm import Llm
from . import week1 as week1
from . import week2 as week2
from . import week3 as week3
from . import week4 as week4
from .week1.model import Model

def load(folder: str | PathLike[str]) -> Llm[Model]:
    """Loads a Hugging Face folder. A tokenizer is not needed for what works on tokens."""

@final
class Engine:
    # Where the bridge was built with `--features serve`.
    def __new__(
        cls,
        model: str | PathLike[str],
        *,
        threads: int | None = None,
        context: int | None = None,
        max_batch: int | None = None,
        max_queue: int | None = None,
        budget: int | None = None,
        gap: int | None = None,
        pages: int | None = None,
        share_prefixes: bool = False,
        draft: str | PathLike[str] | None = None,
        name: str | None = None,
    ) -> Engine: ...
    def submit(self, path: str, body: bytes | None = None, *, method: str = "POST", headers: Sequence[tuple[str, str]] | None = None) -> Answer: ...
    def close(self) -> None: ...

@final
class Answer:
    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> list[tuple[str, str]]: ...
    def read(self) -> bytes: ...
    def cancel(self) -> None: ...
    def __iter__(self) -> Answer: ...
    def __next__(self) -> bytes: ...
