"""Serves a model on a Ray cluster, until Ctrl-C."""

import argparse
import signal
import sys
import threading

import ray
from ray import serve

from . import HERE, ROOT, located
from .app import Options, app
from .routing import CLASSES


def arguments():
    parser = argparse.ArgumentParser(prog="python -m cluster", description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=located, default=str(ROOT / "models/tiny-story"), help="folder, GGUF file or name (default: the embedded model)")
    parser.add_argument("--solution", choices=["reference", "student"], default="student", help="engine to run (default: student, your own)")
    parser.add_argument("--replicas", type=int, help="fixed number of replicas (default: as the queue requires, up to --max-replicas)")
    parser.add_argument("--max-replicas", type=int, default=2, help="maximum number of replicas (default: 2)")
    parser.add_argument("--routing", choices=sorted(CLASSES), default="prefix", help="routing policy (default: prefix)")
    parser.add_argument("--max-batch", type=int, default=16, help="batch slots per replica (default: 16)")
    parser.add_argument("--pages", type=int, default=512, help="pages of the KV cache per replica (default: 512)")
    parser.add_argument("-j", "--threads", type=int, default=1, help="number of threads per replica (default: 1)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (default: 8000)")
    parser.add_argument("--address", help="address of a running cluster (default: start one here)")
    return parser.parse_args()


def main():
    args = arguments()
    options = Options(
        model=args.model,
        solution=args.solution,
        replicas=args.replicas,
        max_replicas=args.max_replicas,
        routing=args.routing,
        max_batch=args.max_batch,
        engine={"pages": args.pages, "share_prefixes": True, "threads": args.threads},
    )
    # Overrides the number of processors, so that Ray starts all replicas even on a small machine.
    own = {} if args.address else {"num_cpus": 1 + (args.replicas or args.max_replicas), "include_dashboard": False}
    ray.init(args.address, runtime_env=HERE, log_to_driver=True, **own)
    serve.start(http_options={"host": args.host, "port": args.port})
    serve.run(app(options), name="tiny-llm", route_prefix="/")
    print(f"serving  http://{args.host}:{args.port}", file=sys.stderr, flush=True)
    ended = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: ended.set())
    ended.wait()
    serve.shutdown()
    ray.shutdown()


if __name__ == "__main__":
    main()
