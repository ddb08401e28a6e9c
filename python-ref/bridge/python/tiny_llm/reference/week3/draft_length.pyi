from typing import final

def expected_tokens(rate: float, k: int) -> float:
    """How many tokens a pass with `k` drafts gives in the mean."""

def best_length(rate: float, row: float, draft: float, most: int) -> int:
    """The number of drafts, from 0 to `most`, with the most tokens for what a pass costs, where each
    further row costs `row` and proposing a token costs `draft`.
    """

@final
class DraftLength:
    """Keeps count of what was accepted, and says how many tokens to draft next."""

    def __new__(cls, most: int, row: float, draft: float) -> DraftLength: ...
    def observe(self, drafted: int, accepted: int) -> None:
        """Takes what became of the drafts of a pass."""

    def choose(self) -> int:
        """How many tokens to draft for the next pass."""

    def rate(self) -> float:
        """The part of drafts that was kept, of those that were looked at."""
