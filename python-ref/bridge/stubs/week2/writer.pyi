from collections.abc import Sequence
from os import PathLike

def write_file(
    path: str | PathLike[str],
    metadata: Sequence[tuple[str, bool | int | float | str | list[str]]],
    tensors: Sequence[tuple[str, Sequence[int], str, bytes]],
    alignment: int,
) -> None: ...
