"""Week 2, day 3: blocks of 32 weights in Q8_0, Q4_0 and Q5_0, and the error of a format.

Expected blocks and weights come from the `gguf` package (llama.cpp's own): bytes from its `quantize`, weights from its `dequantize`.
The format prescribes each f32 rounding, so none of this is computed in float64, and the tolerance is 0. Integers are compared as
they are, scales and weights by value.
"""

import numpy as np
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize
from safetensors.torch import load_file

from oracle.fixtures import FOLDER, Tolerance

OFFSET = {"Q8_0": 0, "Q4_0": 8, "Q5_0": 16}
"""The stored integer of a weight that is 0, by format."""

ROUND_TRIP = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "BF16", "F16")


def encode(x, name):
    """Quantizes `x [n, cols]` to format `name` → bytes `[n, row bytes]`."""
    with np.errstate(over="ignore"):
        data = quantize(np.ascontiguousarray(x.numpy(), dtype=np.float32), GGMLQuantizationType[name])
    return torch.from_numpy(np.ascontiguousarray(data).view(np.uint8).astype(np.int64)).reshape(x.shape[0], -1)


def decode(blocks, name):
    """Decodes bytes `[n, row bytes]` of format `name` → weights `[n, cols]`."""
    data = blocks.numpy().astype(np.uint8)
    data = data.view(np.float32) if name == "F32" else data.view(np.float16) if name == "F16" else data
    with np.errstate(invalid="ignore"):
        weights = dequantize(data, GGMLQuantizationType[name])
    return torch.from_numpy(np.ascontiguousarray(weights, dtype=np.float32))


def halves(bits):
    """Returns `bits [n]` as two bytes each, the lower first: `[n, 2]`."""
    return torch.stack((bits & 255, bits >> 8), dim=-1)


def with_scale(blocks, bits):
    """Returns `blocks` with their scales, the first two bytes of each, replaced by `bits`."""
    return torch.cat((halves(bits), blocks[:, 2:]), dim=1)


def parts(blocks, name):
    """Returns the scales `[n]` of blocks and their stored integers `[n, 32]`: the weights at a scale of 1, plus the offset."""
    one = torch.full((blocks.shape[0],), 0x3C00)
    return {"scale": scales(blocks), "integers": decode(with_scale(blocks, one), name) + OFFSET[name]}


def scales(blocks):
    """Returns the half-precision number at the start of each block, `[n]`."""
    return decode(blocks[:, :2], "F16")[:, 0]


def random_scales(r, n):
    """Returns the bits of finite half-precision numbers of either sign and any size, including subnormals."""
    bits = r.integers(n, high=0x7C00) | r.integers(n, high=2) << 15
    bits[0], bits[1] = 0x0001, 0x83FF  # the smallest subnormal, and minus the largest
    return bits


def embedded(name, rows, cols):
    """Returns weights of the embedded model in float32."""
    weights = load_file(FOLDER.parents[1] / "models/tiny-story/model.safetensors")
    return weights[name][:rows, :cols].float()


def by_value():
    """Returns a tolerance of 0, for results that a format prescribes exactly. It is relative, so that small weights count too."""
    return Tolerance(0.0, "the format says how each operation is rounded", relative=True)


# Reading


def reading(out, task, name, seed):
    r = out.random(seed)
    size = {"Q8_0": 34, "Q4_0": 18, "Q5_0": 22}[name]
    ramp = torch.arange(32)
    # Some numbers occur twice and others never, so that the right numbers in a wrong order differ.
    fives = ramp * (ramp + 1) // 2 % 32
    fives = torch.where(fives % 4 == 3, fives - 2, fives)
    ramp = {"Q8_0": (ramp * 8 - 124).float(), "Q4_0": torch.where(ramp < 16, ramp - 8, 23 - ramp).float(), "Q5_0": (fives - 16).float()}[name]
    # A block of integers that includes its format's largest magnitude is stored without rounding.
    whole = with_scale(encode(torch.where(ramp == -124, -127.0, ramp)[None, :], name), torch.tensor([0x3C00]))
    n = 12
    random = with_scale(r.integers(n, size, high=256), random_scales(r, n))
    cases = {
        "whole": (whole, "whole numbers, scale 1"),
        "random": (random, f"{n} blocks of random bytes: every integer is there, and scales of either sign and any size, also subnormal ones"),
        "model": (encode(embedded("model.layers.1.mlp.down_proj.weight", 4, 64), name).reshape(-1, size), "weights of the embedded model"),
    }
    for case, (blocks, why) in cases.items():
        out.case(
            f"task_{task}_dequantize/{case}",
            why=why,
            inputs={"blocks": blocks},
            outputs={"weights": decode(blocks, name)},
            tolerance={"weights": by_value()},
        )


# Writing


def near_the_edges(name):
    """Returns weights so near the middle between two integers that dividing by the rounded scale gives the wrong one."""
    top = {"Q8_0": 127, "Q4_0": 8, "Q5_0": 16}[name]
    rows = []
    # Rounding changes the scale by a little less than half a unit in the last place: down at δ = 0.9, up at δ = 1.1.
    for sign, delta, power in ((1, 0.9, -4), (1, 1.1, -7), (-1, 0.9, -2), (-1, 1.1, 0)):
        d = sign * 2.0**power * (1 + delta * 2.0**-11)
        off = 0.45 * 2.0**-11 * (1 if delta < 1 else -1)
        q = np.array([(i % 15 - 7) * (top - 1) // 8 for i in range(32)], dtype=np.float64)
        x = (q + np.sign(q + 0.5) * 0.5) * (1 - off) * d
        x[5] = top * abs(d) if name == "Q8_0" else -top * d
        rows.append(x)
    return torch.tensor(np.array(rows), dtype=torch.float64).float()


def between(name):
    """Returns weights exactly in the middle between two integers. The largest magnitude has both signs in
    three blocks, only the positive sign in one, and only the negative sign in one."""
    top = {"Q8_0": 127, "Q4_0": 8, "Q5_0": 16}[name]
    rows = []
    for power, sign, other in ((-6, 1, 1), (-3, -1, 1), (1, 1, 1), (-4, 1, 0.5), (-5, -1, 0.5)):
        x = np.array([((i * 7) % 31 - 15) / 16 * (top - 1) for i in range(32)])
        x = (np.floor(x) + 0.5) * 2.0**power
        x[11], x[20] = sign * top * 2.0**power, -sign * top * 2.0**power * other
        rows.append(x)
    return torch.tensor(np.array(rows)).float()


def prescribed(r, name):
    """Returns weights that become another integer if divided by the scale, or if computed in float64. One block has ties."""
    top = {"Q8_0": 127, "Q4_0": -8, "Q5_0": -16}[name]
    f32 = np.float32

    def codes(x, largest):
        x, largest = f32(x), f32(largest)
        largest = np.abs(largest) if name == "Q8_0" else largest
        d = largest / f32(top)
        wide = float(x) * (1.0 / (float(largest) / top))
        inverse = f32(1) / d
        if name == "Q8_0":
            ways = (x * inverse, x / d, x * (f32(127) / largest), wide)
            return [np.sign(y) * np.floor(np.abs(y) + 0.5) for y in map(float, ways)]
        return [np.trunc(y) for y in (x * inverse + f32(0.5 - top), x / d + f32(0.5 - top), x * inverse + f32(0.5 - top), wide + 0.5 - top)]

    rows = []
    while len(rows) < 6:
        row = np.zeros(32, dtype=np.float32)
        row[0] = largest = f32(0.5 + r.uniform(1, low=0.0, high=0.4).item()) * f32(1 - len(rows) % 2 * 2)
        d = np.abs(largest) / f32(top) if name == "Q8_0" else largest / f32(top)
        if name == "Q8_0" and f32(1) / d == f32(top) / np.abs(largest):
            continue
        for i in range(1, 32):
            x = f32((i * 4 % 126 - 62.5 if name == "Q8_0" else (i % (-2 * top - 2)) + top + 1.5) * d)
            near = [x]
            for _ in range(6):
                near += [np.nextafter(near[-1], f32(np.inf))]
            for _ in range(6):
                near = [np.nextafter(near[0], f32(-np.inf)), *near]
            # Prefers a weight whose code differs in a wrong way: in one of the three, by turns, or else in any. Ties come last.
            def unfit(x):
                found = codes(x, largest)
                return float(x * (f32(1) / d)) % 1 == 0.5, found[0] == found[1 + i % 3], len(set(found)) == 1

            row[i] = min(near, key=unfit)
        rows.append(row)
    # The block of ties distinguishes these mistakes from wrong ways to round a half.
    return torch.cat((torch.from_numpy(np.array(rows)), between(name)[3:4]))


def little(r):
    """Returns six blocks: zeros, one weight, one repeated value, two with scales that half precision barely or cannot hold, and negative weights."""
    x = torch.zeros(6, 32)
    x[1, 17] = -0.37
    x[2] = 0.11
    x[3] = r.normal(32)[None] * 2.0**-18
    x[4] = r.normal(32)[None] * 2.0**-26
    x[5] = -0.5 * r.uniform(32, low=0.2, high=1.0)
    return x


def writing(out, task, name, seed):
    r = out.random(seed)
    # The scales are not multiples of each other.
    sizes = torch.tensor([0.013, 0.4, 1.0, 2.7, 19.0, 310.0, 0.09, 5.5])[:, None]
    cases = {
        "ordinary": (r.normal(8, 32) * sizes, "signed weights, another size in each block"),
        "between": (between(name), "weights in the middle between two integers; in three blocks the largest magnitude occurs in both signs"),
        "near": (near_the_edges(name), "weights that go to another integer if the scale is rounded first"),
        "little": (little(r), "a block of zeros, one weight alone, one value throughout, scales that half precision hardly holds"),
        "model": (embedded("model.layers.2.mlp.gate_proj.weight", 4, 64).reshape(-1, 32), "weights of the embedded model"),
        "prescribed": (prescribed(r, name), "weights so near the middle that every rounding counts: a product with 1 / d, in float32"),
    }
    for case, (x, why) in cases.items():
        golden = parts(encode(x, name), name)
        out.case(
            f"task_{task}_quantize/{case}",
            why=why,
            inputs={"x": x},
            outputs=golden,
            tolerance={part: by_value() for part in golden},
        )


# The error


def rms(x):
    return (x.double() ** 2).mean(-1).sqrt()


def one_rounding():
    return Tolerance(1e-6, "sums in float64, and one rounding to float32 for the comparison: 1e-6 of the value", relative=True)


def errors(out):
    r = out.random(2304)
    x = r.normal(5, 48) * torch.tensor([1.0, 0.02, 30.0, 1.0, 1.0])[:, None]
    y = x + r.normal(5, 48, std=0.3) * torch.tensor([1.0, 0.5, 2.0, 0.01, 1.0])[:, None] + torch.tensor([0.0, 0.0, 3.0, 0.0, 0.4])[:, None]
    y[3, 7] += 1.0
    x[2, ::5] = 0.0
    out.case(
        "task_4_error/rows",
        why="five rows: errors of either sign, some larger than the weights, one that is 1 in one place, one with a mean of its own; zeros that came back as something else",
        inputs={"x": x, "y": y},
        outputs={"rms": rms(x - y), "relative": rms(x - y) / rms(x)},
        tolerance={"rms": one_rounding(), "relative": one_rounding()},
    )
    x = torch.cat((embedded("model.layers.0.mlp.down_proj.weight", 1, 256), r.normal(1, 256) * 0.05, r.uniform(1, 256, low=0.5, high=1.5)))
    found = {}
    for name in ROUND_TRIP:
        back = decode(encode(x, name), name)
        found[name] = rms(x - back) / rms(x)
    out.case(
        "task_4_round_trip/formats",
        why="a row of the embedded model, one of normal weights, and one without a negative",
        inputs={"x": x},
        outputs=found,
        tolerance={name: one_rounding() for name in found},
        scalars={"formats": list(ROUND_TRIP)},
    )


def model_errors(out):
    whole = embedded("model.layers.0.mlp.down_proj.weight", None, None)
    errors = []
    for name in ROUND_TRIP:
        back = decode(encode(whole, name), name)
        errors.append(rms((whole - back).flatten()) / rms(whole.flatten()))
    out.case(
        "task_4_model/down_proj",
        why="a whole matrix of the embedded model",
        outputs={"errors": torch.stack(errors)},
        # For 70 of 196,608 weights, x / d and x · (1 / d) are on different sides of the middle between two integers.
        tolerance={"errors": Tolerance(1e-3, "weights in the middle between two integers may go to either: 2e-5 measured, times 50", relative=True)},
        scalars={"formats": list(ROUND_TRIP), "tensor": "model.layers.0.mlp.down_proj.weight", "shape": list(whole.shape)},
    )


def provided(out):
    """Writes cases for formats without a task, which `dequantize_row` and `quantize_row` support."""
    r = out.random(2305)
    for name, size, scales in (("Q4_1", 20, (0, 2)), ("Q5_1", 24, (0, 2)), ("Q2_K", 84, (80, 82)), ("Q3_K", 110, (108,)), ("F16", 2, ()), ("BF16", 2, ())):
        n = 4 if name.endswith("K") else 12 if scales else 200
        blocks = r.integers(n, size, high=256)
        for at in scales or [0]:
            blocks[:, at : at + 2] = halves(random_scales(r, n))
        out.case(
            f"task_4_provided_read/{name}",
            why="random bytes, with numbers of any size and sign where a format has f16",
            inputs={"blocks": blocks},
            outputs={"weights": decode(blocks, name)},
            tolerance={"weights": by_value()},
        )
    for name in ("Q4_1", "Q5_1", "F16", "BF16"):
        x = torch.cat((r.normal(3, 32) * torch.tensor([[0.02], [1.0], [40.0]]), r.uniform(1, 32, low=3.0, high=5.0), torch.full((1, 32), -0.7), torch.zeros(1, 32)))
        x[1, :6] = torch.tensor([1 + 2.0**-9, 1 + 3 * 2.0**-9, 1 + 2.0**-12, 1 + 3 * 2.0**-12, 2.0**-25, 70000.0 if name.endswith("16") else 1.0])
        out.case(
            f"task_4_provided_written/{name}",
            why="signed weights, weights above zero alone, one value throughout, zeros; in BF16 and F16 also ties, and a number too large for F16",
            inputs={"x": x},
            outputs={"bytes": encode(x.reshape(1, -1), name)[0]},
        )


def formats(out):
    for task, name in enumerate(("Q8_0", "Q4_0", "Q5_0"), 1):
        reading(out, task, name, 2300 + task)
        writing(out, task, name, 2310 + task)
