from typing import final

from ..._types import Ids

@final
class PrefixIndex:
    """A pool of pages, and an index of those that hold the beginnings of texts. With `collide` all pages
    have one of four names.
    """

    def __new__(cls, pages: int, page_len: int, collide: bool = False) -> PrefixIndex: ...
    def compute(self, tokens: Ids) -> list[int] | None:
        """A sequence computes `tokens [L]` in pages of its own, tells the index, and goes. The numbers of
        its pages, or None if too few are free.
        """

    def find(self, tokens: Ids) -> list[int]:
        """The numbers of the pages that hold the beginning of `tokens [L]`."""

    def evict(self) -> bool:
        """Gives up the page that was used longest ago; whether there was one."""

    def counts(self) -> tuple[int, int]:
        """Pages in the index, and free ones."""
