from ..._types import Array, Numbers

def quantize_activations(x: Numbers, width: int) -> tuple[Array, Array, Array]:
    """`x [cols]`, a scale for each `width`, 32 or 256 → values `[groups, 256]`, sums `[groups, 16]`,
    scales `[groups, 8]`
    """
