from ..._types import Array
from .layout import Layout

def mul_mat(a: tuple[Layout, bytes], b: tuple[Layout, bytes]) -> Array:
    """Every row of `a` times every row of `b`, each a layout and the bytes in which it lies. The
    product has PyTorch's order of axes.
    """
