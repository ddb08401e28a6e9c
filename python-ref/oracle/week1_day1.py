"""Week 1, day 1: softmax and linear, scaled dot-product attention, multi-head attention.

Plain PyTorch, in the dtype of the inputs. Names and argument order are those of the Rust functions.
"""

import math

import torch

from oracle.fixtures import Random, rounding


def softmax(x):
    """Over the last axis; a row that is −inf throughout becomes zeros."""
    largest = x.amax(dim=-1, keepdim=True)
    e = torch.exp(x - torch.where(largest == -math.inf, torch.zeros_like(largest), largest))
    return e / e.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)


def cases(out):
    r = Random(1001)
    x = r.normal(3, 5, std=3.0)
    out.case(
        "task_1_softmax/signed",
        seed=r.seed,
        why="three rows of five signed numbers: each row has a sum of its own",
        inputs={"x": x},
        outputs=softmax,
        tolerance={"output": rounding(5 + 3, 1.0)},
        same={"torch.softmax": lambda x: torch.softmax(x, dim=-1)},
        wrong={"softmax-wrong-axis": lambda x: torch.softmax(x, dim=-2)},
    )
