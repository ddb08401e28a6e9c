"""Week 1, day 4: RMSNorm, SiLU, the SwiGLU MLP.

The functions are plain PyTorch in the dtype of their inputs. Names and argument order are those of the Rust side.
Below them, each function that takes `out` writes cases.
"""

import torch
import torch.nn.functional as F

from oracle.fixtures import Tolerance, relative_rounding, rounding
from oracle.week1_day1 import linear


def rms_norm(x, weight, eps):
    """`x / √(mean(x²) + eps) · weight` over the last axis. `x [..., E]`, `weight [E]`."""
    return x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + eps) * weight


def silu(x):
    """`x · σ(x)`"""
    return x * torch.sigmoid(x)


def swiglu(x, gate_proj, up_proj, down_proj):
    """`x [..., E]`, `gate_proj, up_proj [I, E]`, `down_proj [E, I]` → `[..., E]`"""
    return linear(silu(linear(x, gate_proj)) * linear(x, up_proj), down_proj)


def _rms_norm(out):
    r = out.random(1401)
    weight = r.normal(8)

    def case(name, why, x, eps=1e-6, nan=None):
        out.case(
            f"task_1_rms_norm/{name}",
            why=why,
            nan=nan,
            inputs={"x": x, "weight": weight},
            outputs=lambda x, weight: rms_norm(x, weight, eps),
            scalars={"eps": eps},
            tolerance={"output": rounding(8 + 5, rms_norm(x, weight, eps))},
            same={"F.rms_norm": lambda x, weight: F.rms_norm(x, (8,), weight, eps)},
            similar={
                "Qwen3RMSNorm": lambda x, weight: _transformers("qwen3", weight, eps)(x),
                "LlamaRMSNorm": lambda x, weight: _transformers("llama", weight, eps)(x),
            },
        )

    # For inputs around 4, an eps that is ten times too large disappears in rounding. `each_eps` tests eps.
    case("ordinary", "x [2, 3, 8] of mixed signs, signed weights, eps 1e-6", r.normal(2, 3, 8, std=4.0))
    tiny, other_tiny = r.normal(2, 3, 8) / 1024, r.normal(3, 8) / 1024
    case("huge", "inputs around 1000", r.normal(2, 3, 8) * 1024)
    x = r.normal(3, 8)
    x[1] /= 4  # this row's mean is below the eps of 0.25, so max(mean, eps) differs from no eps
    _each_eps(out, r.seed, weight, torch.cat([tiny[0], other_tiny, x]))
    offset = r.normal(3, 8, std=4.0) + 5  # some numbers are below 0, so that their mean differs from that of their magnitudes
    case("offset", "rows with a mean of about 5: RMSNorm does not subtract it", offset)
    x = r.normal(3, 8, std=4.0)
    x[1] = 0
    case("zero_row", "a row of zeros stays zero: eps keeps the root away from 0", x, nan=("of zeros the mean square is 0, and 0/0 is NaN: eps, under the root, keeps it away from 0.", 8, 16))


def _each_eps(out, seed, weight, x):
    """Writes one case with several values of eps. A single value cannot tell a constant eps from a bound on eps."""
    every = [1e-6, 1e-5, 1e-4, 0.25]

    def table(norm):
        return lambda x, weight: torch.stack([norm(x, weight, eps) for eps in every])

    out.case(
        "task_1_rms_norm/each_eps",
        seed=seed,
        why="inputs around 1e-3, where x² is as small as eps, and around 1; eps 1e-6, 1e-5, 1e-4 and 0.25",
        inputs={"x": x, "weight": weight},
        outputs=table(rms_norm),
        scalars={"eps": every},
        tolerance={"output": rounding(8 + 5, table(rms_norm)(x, weight))},
        same={"F.rms_norm": table(lambda x, weight, eps: F.rms_norm(x, (8,), weight, eps))},
    )


def _transformers(family, weight, eps):
    from transformers.models.llama.modeling_llama import LlamaRMSNorm
    from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

    norm = {"llama": LlamaRMSNorm, "qwen3": Qwen3RMSNorm}[family](weight.shape[0], eps=eps)
    norm.weight.data = weight
    return norm


def _silu(out):
    r = out.random(1402)
    def case(name, why, x):
        out.case(
            f"task_2_silu/{name}",
            why=why,
            inputs={"x": x},
            outputs=silu,
            tolerance={"output": relative_rounding(6)},
            same={"F.silu": lambda x: F.silu(x)},
        )

    case("moderate", "three axes of signed numbers between −2 and 3, and 0", torch.cat([r.uniform(2, 3, 6, low=-2.0, high=3.0), torch.zeros(2, 3, 1)], -1))
    negative = r.uniform(24, low=-30.0, high=-8.0)
    negative[0] = -2.5  # for smaller x, GELU and others are indistinguishable from ReLU
    negative[1] = 2.5  # distinguishes x·σ(−x) from x·σ(−|x|)
    case("negative", "x = −2.5, x = 2.5, and x from −8 to −30, where 1 − σ(|x|) has no digits left", negative)
    far_left = torch.tensor([-88.0, -88.5, -89.0, -90.0, -91.0, -92.0])
    out.case(
        "task_2_silu/far_left",
        seed=0,
        why="x from −88 to −92, where e^(−x) is beyond f32 and x/(1 + e^(−x)) is 0, and the answer is not",
        inputs={"x": far_left},
        outputs={"output": silu(far_left.double())},  # not a function, because PyTorch's own float32 sigmoid is 0 here
        # e^−92 is 1.1e-40, where f32 has steps of 1.4e-45. e^x, σ(x) and the product are each half a step off.
        tolerance={"output": Tolerance(1e-4, "three times half of 1.4e-45 against 1.1e-40, and a margin = 1e-4 of the value", relative=True)},
        same={"F.silu": lambda x: F.silu(x)},
    )
    positive = r.uniform(24, low=1.0, high=12.0)
    positive[0] = -1  # distinguishes ReLU from x itself
    case("positive", "x = −1, and x from 1 to 12, where SiLU comes close to x but is not x", positive)


def _swiglu(out):
    r = out.random(1403)
    e, i = 10, 14
    weights = {"gate_proj": r.normal(i, e, std=0.5), "up_proj": r.normal(i, e, std=0.5), "down_proj": r.normal(e, i, std=0.4)}

    def library(x, **weights):
        from transformers import LlamaConfig
        from transformers.models.llama.modeling_llama import LlamaMLP

        mlp = LlamaMLP(LlamaConfig(hidden_size=x.shape[-1], intermediate_size=weights["up_proj"].shape[0], vocab_size=8, num_attention_heads=1)).double()
        mlp.load_state_dict({f"{n}.weight": w for n, w in weights.items()})
        return mlp(x)

    def tolerance(x, gate_proj, up_proj, down_proj):
        # |SiLU(x)| is at most |x|, and its slope is at most 1.1.
        product = linear(x.abs(), gate_proj.abs()) * linear(x.abs(), up_proj.abs())
        return {"output": rounding(2 * x.shape[-1] + gate_proj.shape[0] + 8, linear(product, down_proj.abs()), factor=1)}

    for name, why, shape in [
        ("batched", "x [2, 3, 10], I = 14: signed, gate and up differ", (2, 3, e)),
        ("one_row", "x [1, 10]: a single row", (1, e)),
    ]:
        x = r.normal(*shape)
        out.case(
            f"task_3_swiglu/{name}",
            why=why,
            inputs={"x": x, **weights},
            outputs=swiglu,
            tolerance=tolerance(x, **weights),
            same={"LlamaMLP": library},
        )
    square = {n: r.normal(8, 8, std=0.5) for n in weights}
    x = r.normal(3, 8)
    out.case(
        "task_3_swiglu/square",
        why="E = I = 8: here a projection that is not transposed still has the right shape",
        inputs={"x": x, **square},
        outputs=swiglu,
        tolerance=tolerance(x, **square),
        same={"LlamaMLP": library},
    )
