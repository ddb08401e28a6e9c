def permute_rows_for_interleaved(rows: int, n_heads: int) -> list[int]:
    """For each row of the file the row of the checkpoint that stands there, in a projection of
    `n_heads` heads.
    """

def permute_rows_for_half_split(rows: int, n_heads: int) -> list[int]:
    """The way back: for each row of the checkpoint the row of the file that stands there."""

def use_more_bits(layer: int, n_layers: int) -> bool:
    """Whether a mix spends more bits on this layer."""
