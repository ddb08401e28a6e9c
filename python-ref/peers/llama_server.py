"""Builds llama.cpp's server for this machine, from the source package of llama-cpp-python that pyproject.toml pins, and prints where the program is.

    python python-ref/peers/llama_server.py --out ~/llama-server

It takes a C++ compiler, CMake, and minutes: five where this Python has llama-cpp-python already (the extra `peers`), because the server
then uses the libraries of that package, and twenty or more where it doesn't, because all of llama.cpp has to be compiled. The library
with the kernels is compiled either way, since one compiler spoils it, and lies beside the program. What else was compiled on the way is
removed at the end.
"""

import argparse
import importlib.metadata
import json
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

LEFT_OUT = ["BUILD_TESTS", "BUILD_EXAMPLES", "BUILD_UI", "USE_PREBUILT_UI"]
"""Parts of llama.cpp that a server here needs neither to run nor to be measured."""

SERVER = ["tools/server/", "tools/ui/"]
"""Where the sources lie that are the server's alone."""


LIBRARIES = ["llama-common", "mtmd", "llama", "ggml", "ggml-cpu", "ggml-base"]
"""What the server is linked to."""


def run(*command, **settings):
    # What is said on the way is no result.
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr, **settings)


def libraries(package):
    """The folder with the libraries of this package, if this Python has it with all that a server is linked to."""
    name, version = package.split("==")
    try:
        if importlib.metadata.version(name) != version:
            return None
        folder = Path(importlib.metadata.distribution(name).locate_file("lib"))
    except importlib.metadata.PackageNotFoundError:
        return None
    return folder if all((folder / f"lib{name}.so").exists() for name in LIBRARIES) else None


def sources(package, folder):
    """The sources of llama.cpp in the source package."""
    run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "llama-cpp-python", package, "--dest", folder)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    [found] = folder.glob("*/vendor/llama.cpp")
    # GCC 12 drops the writes to what this call reads, and the first prompt on a matrix unit crashes.
    unit = found / "ggml/src/ggml-cpu/amx/mmq.cpp"
    call = "_tile_loadconfig("
    unit.write_text(unit.read_text().replace(call, f'asm volatile("" ::: "memory"); {call}'))
    return found


def whole(source, build, jobs):
    """Compiles everything; the program."""
    run("cmake", "-S", source, "-B", build, *options("OPENSSL", "CURL"), "-DBUILD_SHARED_LIBS=OFF")
    run("cmake", "--build", build, "--target", "llama-server", "-j", jobs)
    return [build / "bin/llama-server"]


def options(*more):
    left_out = [f"-DLLAMA_{part}=OFF" for part in [*LEFT_OUT, *more]]
    return ["-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *left_out]


def server_alone(source, build, jobs, folder):
    """Compiles the kernels, and what is the server's alone, and links it to the libraries of this folder; the program and the kernels.

    The server's own files are compiled by the commands that CMake would use: CMake itself would compile all libraries first.
    """
    run("cmake", "-S", source, "-B", build, *options(), "-DBUILD_SHARED_LIBS=ON")
    run("cmake", "--build", build, "--target", "llama-ui-assets", "ggml-cpu", "-j", jobs)
    commands = [entry for entry in json.loads((build / "compile_commands.json").read_text())
                if any(part in entry["file"] for part in SERVER)]

    def compile(entry):
        words = shlex.split(entry["command"])
        run(*words, cwd=entry["directory"])
        return Path(entry["directory"]) / words[words.index("-o") + 1]

    with ThreadPoolExecutor(jobs) as pool:
        objects = list(pool.map(compile, commands))
    program = build / "llama-server"
    # The program itself asks for the kernels, though it calls none, and looks for them beside itself first: the libraries
    # that do call them would find those of their own folder.
    where = [f"-L{folder}", "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", f"-Wl,-rpath,{folder}"]
    names = [f"-l{name}" for name in [*LIBRARIES, "pthread"]]
    run(shlex.split(commands[0]["command"])[0], "-o", program, *objects, *where, *names)
    return [program, *(build / "bin").glob("libggml-cpu.so.*")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the program, outside this repository")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    args = parser.parse_args()
    package = re.search(r'"(llama-cpp-python==[\d.]+)"', (ROOT / "pyproject.toml").read_text())[1]
    out = args.out.expanduser().resolve()
    if out.is_relative_to(ROOT):
        parser.error("--out: expected a folder outside this repository")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        source, build = sources(package, folder), folder / "build"
        installed = libraries(package)
        built = server_alone(source, build, args.jobs, installed) if installed else whole(source, build, args.jobs)
        [program, *_] = [shutil.copy2(file, out) for file in built]
    print(program)


if __name__ == "__main__":
    main()
