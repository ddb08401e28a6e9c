from collections.abc import Sequence as _Sequence
from typing import final

from ..._types import Ids
from ..week1.generate import FinishReason

@final
class Request:
    """What a client asks for: greedy unless `temperature` is above 0."""

    def __new__(
        cls,
        prompt: Ids,
        max_new_tokens: int,
        *,
        stop_tokens: _Sequence[int] = ...,
        stop_texts: _Sequence[bytes] = ...,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> Request: ...
@final
class Sequence:
    """A request in the engine."""

    def __new__(cls, id: int, request: Request, context: int) -> Sequence: ...
    def admit(self, slot: int) -> None:
        """Gives a waiting request its place in the cache."""

    def computed(self, rows: int) -> bool:
        """Says that the model has computed `rows` more of the tokens; returns whether the next token can
        be chosen now.
        """

    def accept(self, token: int, completes_stop_text: bool) -> bool:
        """Takes the token that was chosen, and whether its text completes a stop text; returns whether it
        is part of the answer.
        """

    def cancel(self) -> None:
        """Ends a request whose client has gone."""

    def rows(self, n: int) -> list[tuple[int, int, int, bool]]:
        """The next `n` rows of it: token, position, slot, and whether logits are wanted."""

    def phase(self) -> str:
        """`waiting`, `prefilling`, `decoding` or `finished`."""

    def finished(self) -> FinishReason | None:
        """Why it ended, if it did."""

    def tokens(self) -> list[int]:
        """Prompt and answer."""

    def num_computed(self) -> int:
        """How many of the tokens have been computed."""
