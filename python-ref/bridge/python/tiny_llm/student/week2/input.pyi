from ..._types import Array, Numbers

def quantize_activations(x: Numbers, per_scale: int) -> tuple[Array, Array, Array]:
    """`x [cols]`, a scale for each `per_scale`, 32 or 256 → values `[super_blocks, 256]`, sums
    `[super_blocks, 16]`, scales `[super_blocks, 8]`
    """
