"""Week 2, day 6, on 64-bit Arm: products of quantized rows with NEON, like those of `week2_day6` with AVX2.

A separate file, because its tests need such a processor, or an emulator.
"""

import torch

from oracle.week2_day6 import q4_k, q8_0


def task_4(out):
    values, scales = torch.full((256,), -127.0), torch.full((8,), 0.25)
    values[2::9] = 127
    why = "codes of -128 and 127, activations of -127 and 127: two products fit into 16 bits, three do not"
    extremes = why, (0x80, 0x7F), values, scales, None
    q8_0(out, 4, 2621, 736, "three rows of 23 blocks: the last super-block of activations meets seven blocks", extremes)


def task_5(out):
    values = torch.full((256,), -127.0)
    values[160:] = 127
    q4_k(out, 5, 2631, values, torch.full((8,), 0.25))
