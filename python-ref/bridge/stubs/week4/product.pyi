from ..._types import Array
from .layout import Layout

def mul_mat(a: tuple[Layout, bytes], b: tuple[Layout, bytes]) -> Array: ...
