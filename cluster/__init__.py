"""Replicas of the engine on a cluster, by Ray: one engine in each, the interface of `cargo llm serve` in front of all.

    python -m cluster --replicas 2

starts it on this machine; `cluster/README.md` says how the same application runs on a cluster. What a request may ask for is read
by the Rust code that the server has, in the replica that answers.
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}}
"""What Ray's processes start with: they import this package from where it was started, and all else from where the starter has it."""


def located(text):
    """A path as every process of this machine understands it, or a name, which each machine looks up in its own cache."""
    return str(Path(text).resolve()) if Path(text).exists() else text
