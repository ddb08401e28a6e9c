"""Starts a cluster of two nodes on this machine. `cargo course verify --only cluster` runs these tests. By hand:

    maturin develop --release --features serve --extras cluster
    cargo build --release --features cli,reference
    TINY_LLM=target/release/tiny-llm python -m pytest cluster/tests
"""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "models/tiny-story"
os.environ.update(PYTHONPATH=os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
# Disables Ray's usage reports, and its question about them.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import ray  # noqa: E402
from ray import serve  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

from cluster.app import Options, app  # noqa: E402

PORT = 8341


@pytest.fixture(scope="session")
def machines():
    """Starts two nodes with room for one replica each. Nodes have few processors, because Ray starts an idle worker for each."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    cluster.add_node(num_cpus=2)
    ray.init(address=cluster.address, log_to_driver=False)
    serve.start(http_options={"host": "127.0.0.1", "port": PORT})
    yield cluster
    serve.shutdown()
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def served(machines):
    """Yields a function that serves the application with the given options and returns its address."""

    def run(**options):
        engine = {"threads": 1, "pages": 512, "share_prefixes": True} | options.pop("engine", {})
        options = {"model": str(MODEL), "replicas": 2, "cpus": 1.5} | options
        serve.run(app(Options(engine=engine, **options)), name="tiny-llm", route_prefix="/")
        return f"http://127.0.0.1:{PORT}"

    yield run
    serve.delete("tiny-llm")


@pytest.fixture(scope="session")
def alone():
    """Yields a function that returns the answer of a separate engine, which has no other requests."""
    from tiny_llm import reference

    engine = reference.Engine(MODEL, threads=1)
    yield lambda path, body: engine.submit(path, body).read()
    engine.close()


@pytest.fixture
def together():
    """Returns a function that calls `call` with each of `things` on several threads, and returns the results in order."""

    def run(call, things, threads=16):
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(call, things))

    return run
