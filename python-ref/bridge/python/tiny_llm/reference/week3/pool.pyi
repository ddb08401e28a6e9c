from typing import final

@final
class BlockPool:
    """A fixed number of pages, lent to owners. A handle is a number that is never used twice."""

    def __new__(cls, pages: int) -> BlockPool: ...
    def num_free(self) -> int:
        """How many pages are free."""

    def can_allocate(self, pages: int) -> bool:
        """Whether so many pages can be allocated."""

    def allocate(self) -> int | None:
        """A handle of a page that was free, if there is one."""

    def retain(self, handle: int) -> int:
        """Another handle of the same page."""

    def release(self, handle: int) -> None:
        """Gives a handle back."""

    def page(self, handle: int) -> tuple[int, int]:
        """The number of a handle's page, and how many owners that has."""
