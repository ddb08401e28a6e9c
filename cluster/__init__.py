"""Serves replicas of the engine on a Ray cluster, with the interface of `cargo llm serve`. Each replica runs one engine.

    python -m cluster --replicas 2    # serves on this machine

`cluster/README.md` describes how to run the same application on several machines. The replica that answers a request
also validates it, with the same Rust code as `cargo llm serve`.
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}}
"""Environment of Ray's processes. They import modules from this repository's root, then from the caller's `PYTHONPATH`."""


def located(text):
    """Returns the absolute path if `text` is an existing file or folder. Any other `text` is a name, which each machine finds in its cache."""
    return str(Path(text).resolve()) if Path(text).exists() else text
