"""Counts the instructions per weight of our kernels for 64-bit Arm and of ggml's, exactly, under QEMU.

    python python-ref/peers/arm_instructions.py [--ggml BUILD --include FOLDER] [--tokens 1] [--cpu max] [--rung neon-dot]

Ours is the reference's example `product`, already built for aarch64 (`--ours PROGRAM`). BUILD is a folder with a static build of ggml for
aarch64 (`libggml-cpu.a`, `libggml-base.a`), and FOLDER has its headers. Without them, only ours is counted. A matrix is multiplied once
and three times, and half the difference is one multiplication. ggml may repack a matrix when it loads it, so both forms are counted and
the better one is used.

Needs gcc, aarch64-linux-gnu-gcc and qemu-aarch64 (Debian: gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu, qemu-user).
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TYPES = ["Q8_0", "Q4_0", "Q4_K", "Q6_K", "Q5_0", "Q5_K", "Q4_1", "Q5_1", "Q2_K", "Q3_K", "F16", "BF16", "F32"]
OURS = "target/emulated/aarch64-unknown-linux-gnu/release/examples/product"


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)


def plugin(folder):
    """Compiles the QEMU plugin that counts instructions. Returns its path."""
    library = folder / "count.so"
    run("gcc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "qemu_count_instructions.c")
    return library


def ggml_program(folder, build, include):
    """Compiles ggml_product.c and links it with the ggml in `build`. Returns the program's path."""
    program, object_file = folder / "ggml_product", folder / "ggml_product.o"
    libraries = [next(Path(build).rglob(f"libggml-{part}.a")) for part in ("cpu", "base", "cpu")]
    run("aarch64-linux-gnu-gcc", "-O2", "-I", include, "-c", HERE / "ggml_product.c", "-o", object_file)
    run("aarch64-linux-gnu-g++", "-static", object_file, *libraries, "-lpthread", "-lm", "-o", program)
    return program


def count(library, cpu, program, *arguments):
    """Runs a program under QEMU. Returns the number of its instructions, or None if the program fails."""
    prefix = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu", cpu, "-plugin", library, "-d", "plugin"]
    done = subprocess.run([str(word) for word in [*prefix, program, *arguments]], capture_output=True, text=True)
    found = re.search(r"^instructions (\d+)$", done.stderr, re.M)
    return int(found[1]) if done.returncode == 0 and found else None


def per_weight(args, library, program, before, after):
    """Returns the instructions per weight and row of activations, or None if the program fails."""
    once, thrice = (count(library, args.cpu, program, *before, args.rows, args.cols, args.tokens, rounds, *after) for rounds in (1, 3))
    return None if once is None else (thrice - once) / 2 / (args.rows * args.cols * args.tokens)


def main():
    parser = argparse.ArgumentParser(description="Instructions per weight on 64-bit Arm, ours beside ggml's.")
    parser.add_argument("--ours", type=Path, default=OURS, help=f"the example `product`, built for aarch64 [{OURS}]")
    parser.add_argument("--ggml", type=Path, help="a static build of ggml for aarch64")
    parser.add_argument("--include", type=Path, help="its headers")
    parser.add_argument("--cpu", default="max", help="what QEMU plays: max, cortex-a53 [max]")
    parser.add_argument("--rung", default="neon-dot")
    parser.add_argument("--rows", type=int, default=2048)
    parser.add_argument("--cols", type=int, default=2048)
    parser.add_argument("--tokens", type=int, default=1)
    parser.add_argument("types", nargs="*", default=TYPES)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        library = plugin(folder)
        ggml = args.ggml and ggml_program(folder, args.ggml, args.include)
        print(f"{args.rung} on {args.cpu}, [{args.rows}, {args.cols}] times {args.tokens} rows: instructions per weight")
        print("type      ours    ggml   ratio")
        for name in args.types:
            ours = per_weight(args, library, args.ours, [args.rung, name], [])
            if ours is None:
                parser.error(f"{args.ours} with {args.rung} and {name} does not run under QEMU on {args.cpu}")
            line = f"{name:<6} {ours:7.4f}"
            if ggml:
                # ggml writes types as q4_K and f16, we as Q4_K and F16.
                theirs = [per_weight(args, library, ggml, [name.replace("Q", "q").replace("F", "f").replace("B", "b")], [repack]) for repack in (0, 1)]
                best = min(one for one in theirs if one is not None)
                line += f" {best:7.4f} {ours / best:7.3f}"
            print(line)


if __name__ == "__main__":
    main()
