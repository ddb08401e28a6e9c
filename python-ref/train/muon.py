"""Muon (Jordan et al. 2024): momentum whose update is replaced by the nearest orthogonal matrix.

Every direction of a weight matrix moves equally fast. With AdamW alone, this model learnt to copy words after thousands
of steps. With Muon, it does so after hundreds.
"""

from collections import defaultdict

import torch


def orthogonalise(g, steps=5):
    """Returns the matrices (N, rows, cols) with singular values near 1, by a quintic Newton-Schulz iteration.

    The iteration is in bf16, which takes half the time. The singular values end up between about 0.7 and 1.2 anyway.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = g.shape[1] > g.shape[2]
    x = (g.transpose(1, 2) if tall else g).bfloat16()
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(steps):
        s = x @ x.transpose(1, 2)
        x = a * x + (b * s + c * s @ s) @ x
    return x.transpose(1, 2) if tall else x


class Muon(torch.optim.Optimizer):
    """An optimizer for matrices only. It orthogonalises matrices of one shape in one batch."""

    def __init__(self, params, lr, momentum=0.95, weight_decay=0.01):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            by_shape = defaultdict(list)
            for p in group["params"]:
                by_shape[p.shape].append(p)
            for (rows, cols), params in by_shape.items():
                updates = []
                for p in params:
                    buffer = self.state[p].setdefault("momentum", torch.zeros_like(p))
                    buffer.lerp_(p.grad, 1 - group["momentum"])
                    updates.append(p.grad.lerp(buffer, group["momentum"]))  # Nesterov
                scale = max(1, rows / cols) ** 0.5
                for p, update in zip(params, orthogonalise(torch.stack(updates))):
                    p.mul_(1 - group["lr"] * group["weight_decay"])
                    p.add_(update, alpha=-group["lr"] * scale)
