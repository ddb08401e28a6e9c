from collections.abc import Sequence
from typing import final

@final
class Layout:
    """Where the elements of a tensor lie; axis 0 is the innermost one."""

    def __new__(cls, tensor_type: str, sizes: Sequence[int]) -> Layout: ...
    @staticmethod
    def from_torch(tensor_type: str, shape: Sequence[int]) -> Layout:
        """The same for a shape as PyTorch writes it."""

    @property
    def ne(self) -> list[int]:
        """Elements along each axis."""

    @property
    def nb(self) -> list[int]:
        """Bytes from one to the next along each axis."""

    @property
    def offset(self) -> int:
        """The byte of the first element."""

    def end(self) -> int:
        """The byte behind the last one that belongs to an element."""

    def view(self, ne: Sequence[int], nb: Sequence[int], offset: int) -> Layout:
        """A tensor of other sizes and strides in the same bytes."""

    def permute(self, axes: Sequence[int]) -> Layout:
        """Axis `i` becomes axis `axes[i]`."""

    def broadcast(self, ne: Sequence[int]) -> Layout:
        """Axes of one element get other sizes."""

    def reshape(self, sizes: Sequence[int]) -> Layout:
        """Other sizes of the same elements."""

    def is_contiguous(self) -> bool:
        """Whether the elements lie one after the other."""

    def has_whole_rows(self) -> bool:
        """Whether those of each row do."""

    def contiguous(self, bytes: bytes) -> bytes:
        """The bytes of the elements in their order, from the bytes in which they lie."""
