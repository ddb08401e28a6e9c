from typing import final

@final
class Arena:
    """Which parts of an arena are free."""

    def __new__(cls) -> Arena: ...
    def allocate(self, bytes: int) -> int:
        """Lends so many bytes, and says where."""

    def release(self, start: int, bytes: int) -> None:
        """Takes them back."""

    def peak(self) -> int:
        """How long the arena has to be."""

    def free_parts(self) -> list[tuple[int, int]]:
        """Where free parts begin, and how long they are."""
