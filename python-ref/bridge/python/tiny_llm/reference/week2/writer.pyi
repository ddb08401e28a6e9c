from collections.abc import Sequence
from os import PathLike

def write_file(
    path: str | PathLike[str],
    metadata: Sequence[tuple[str, bool | int | float | str | list[str]]],
    tensors: Sequence[tuple[str, Sequence[int], str, bytes]],
    alignment: int,
) -> None:
    """Writes a file. A tensor is a name, a shape (slowest axis first), a type as llama.cpp writes it,
    and bytes.
    """
