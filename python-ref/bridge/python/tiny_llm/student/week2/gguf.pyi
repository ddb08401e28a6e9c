from os import PathLike
from typing import NoReturn, final

@final
class Gguf:
    """A GGUF file, as it is read."""

    # It is made by `open`.
    def __new__(cls, never: NoReturn, /) -> Gguf: ...
    @staticmethod
    def open(path: str | PathLike[str]) -> Gguf:
        """Maps a file."""

    def metadata(self) -> list[tuple[str, tuple[str, object]]]:
        """Of each key the name of its type, `U32` or `Array U32`, and its value."""

    def tensors(self) -> list[tuple[str, list[int], str, int, int]]:
        """Of each tensor its name, shape (slowest axis first), type, and its first byte and the one
        after its last, from the start of the file.
        """

    def bytes_of(self, name: str) -> bytes:
        """A tensor's bytes."""

def data_start(position: int, alignment: int) -> int:
    """Where the data section begins, behind a table that ends at `position`."""
