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
    """Many requests at once, each answered as `cargo llm serve` answers it: the same paths, parameters
    and errors. Computes on threads of its own, whatever Python does meanwhile.
    """

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
    def submit(self, path: str, body: bytes | None = None, *, method: str = "POST", headers: Sequence[tuple[str, str]] | None = None) -> Answer:
        """Hands a request to the engine, and does not wait for its answer. `path` is one of the
        server's, as /v1/chat/completions, and `body` what a client would send there.
        """

    def close(self) -> None:
        """Ends the engine, and what it is still answering."""

@final
class Answer:
    """An answer as it comes. Where it is forgotten, or cancelled, the engine stops computing it before
    its next step.
    """

    @property
    def status(self) -> int:
        """The status of HTTP, as 200; waits until it is known."""

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Names and values; waits until they are known."""

    def read(self) -> bytes:
        """All of the body that has not been read yet."""

    def cancel(self) -> None:
        """Ends it; what comes afterwards is nothing."""

    def __iter__(self) -> Answer: ...
    def __next__(self) -> bytes: ...
