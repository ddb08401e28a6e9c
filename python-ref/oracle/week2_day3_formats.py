"""Week 2, days 3 and 4: all formats, decoded by the `gguf` package and stored bit for bit. For the reference's own tests."""

import torch
from oracle.week2_day3 import by_value, decode, halves, random_scales

FORMATS = {
    "F32": (4, ()), "F16": (2, (0,)), "BF16": (2, ()),
    "Q4_0": (18, (0,)), "Q4_1": (20, (0, 2)), "Q5_0": (22, (0,)), "Q5_1": (24, (0, 2)), "Q8_0": (34, (0,)),
    "Q2_K": (84, (80, 82)), "Q3_K": (110, (108,)), "Q4_K": (144, (0, 2)), "Q5_K": (176, (0, 2)), "Q6_K": (210, (208,)),
}  # fmt: skip
"""Bytes in a block, and the offsets of its half-precision numbers."""

INFINITE = (0x7C00, 0xFC00, 0x7E00)


def cases(out):
    for i, (name, (size, scales)) in enumerate(FORMATS.items()):
        r = out.random(2350 + i)
        n = 100 if size <= 4 else 7
        blocks = r.integers(n, size, high=256)
        for at in scales:
            bits = random_scales(r, n)
            # The last blocks have infinities of either sign, and NaN.
            bits[-3:] = torch.tensor(INFINITE)
            blocks[:, at : at + 2] = halves(bits)
        out.case(
            f"formats/{name}",
            why="random bytes, with scales of any size and sign, infinite ones, and NaN",
            inputs={"blocks": blocks},
            outputs={"weights": decode(blocks, name)},
            tolerance={"weights": by_value()},
        )
