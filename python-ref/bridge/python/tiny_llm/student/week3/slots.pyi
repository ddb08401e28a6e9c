from typing import final

@final
class Slots:
    """The places of a cache that keeps room for a fixed number of sequences."""

    def __new__(cls, sequences: int) -> Slots: ...
    def claim(self, id: int) -> int | None:
        """Gives a request the free place with the lowest number, if there is one."""

    def release(self, slot: int, id: int) -> None:
        """Takes a request's place back."""

    def owner(self, slot: int) -> int | None:
        """Whose a place is."""
