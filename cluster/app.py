"""The Ray Serve application: fronts, which handle HTTP, and replicas, each with an engine.

A cluster's configuration refers to `app` as `cluster.app:app`. Its arguments are the fields of `Options`.
"""

import asyncio
import importlib
import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

import ray
from pydantic import BaseModel, ConfigDict, Field
from ray import serve
from ray.exceptions import ActorDiedError, ActorUnavailableError, RayActorError
from ray.serve.config import AutoscalingConfig, RequestRouterConfig
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError, ReplicaUnavailableError
from starlette.responses import JSONResponse, Response, StreamingResponse

from .figures import reported
from .request import Cut, Differs, Resumed, is_leaving, look
from .routing import CLASSES

GONE = (ActorDiedError, ActorUnavailableError, RayActorError, ReplicaUnavailableError, DeploymentUnavailableError)
"""Exceptions that a call raises if its replica is gone."""

FORWARDED = ("authorization", "content-type")
MAX_BODY = 1 << 20
"""Maximum size of a request's body in bytes. A front stops reading a longer body, and the replica rejects it."""

LOG = logging.getLogger("ray.serve")


class Options(BaseModel):
    """Arguments of the application."""

    model_config = ConfigDict(extra="forbid")

    model: str
    """Folder or GGUF file at the same path on every machine, or a name that is in every machine's cache."""
    solution: str = "reference"
    """Engine to run: `reference` or `student`."""
    replicas: Optional[int] = Field(1, ge=1)
    """Fixed number of replicas. `None` scales with the queue, from `min_replicas` to `max_replicas`."""
    min_replicas: int = Field(1, ge=1)
    max_replicas: int = Field(4, ge=1)
    fronts: int = Field(1, ge=1)
    routing: str = "prefix"
    max_batch: int = Field(16, ge=1)
    """Batch slots per replica. Ray hands each replica up to twice as many requests, so that no slot stays empty."""
    max_queue: int = Field(256, ge=1)
    """Maximum number of requests that wait in a front for a replica. Others are rejected with status 429."""
    attempts: int = Field(4, ge=1)
    """Maximum number of attempts per request. If a replica dies, another replica makes the next attempt."""
    cpus: float = Field(1.0, gt=0)
    """Processors that Ray reserves for each replica."""
    scale_delay_s: float = Field(10.0, ge=0)
    """Seconds for which the queue must stay long before a replica is added. Before one is removed, it must stay short thirty times as long."""
    engine: dict[str, Any] = {}
    """Other options of the engine, such as `{"pages": 512, "share_prefixes": true, "threads": 2}`."""


class Replica:
    """Runs one engine."""

    def __init__(self, options):
        options = Options(**options)
        solution = getattr(importlib.import_module("tiny_llm"), options.solution)
        self.engine = solution.Engine(options.model, max_batch=options.max_batch, **options.engine)
        # These threads only wait for answers.
        self.threads = ThreadPoolExecutor(2 * options.max_batch + 4)

    async def answer(self, method, path, headers, body, beginning=""):
        """Yields the status and headers of the engine's answer, then parts of its body. Cancels the request if the caller stops early."""
        answer = self.engine.submit(path, body, method=method, headers=headers)
        run = asyncio.get_running_loop().run_in_executor
        try:
            yield await run(self.threads, lambda: (answer.status, answer.headers))
            while (piece := await run(self.threads, next, answer, None)) is not None:
                yield piece
        finally:
            self.threads.submit(answer.cancel)

    def check_health(self):
        """Raises an error if the engine does not respond. Ray calls this periodically, and replaces a replica that raises."""
        if self.engine.submit("/health", method="GET").status != 200:
            raise RuntimeError("the engine does not answer")

    def record_routing_stats(self):
        """Returns the engine's metrics, with the replica's node and process id. Ray passes them to the routers."""
        metrics = self.engine.submit("/metrics", method="GET").read().decode()
        where = f'tiny_llm_replica{{node="{ray.get_runtime_context().get_node_id()}",pid="{os.getpid()}"}} 1'
        return {"metrics": f"{metrics}{where}\n"}


class Front:
    """Handles HTTP. If a replica dies during an answer, another one continues the answer, without repeating any part."""

    async def __init__(self, replicas, options):
        self.replicas = replicas.options(stream=True)
        self.attempts = Options(**options).attempts
        # The first call creates the handle's router, which then tracks the replicas.
        await anext(self.ask(("GET", "/health", [], None, "")))

    async def __call__(self, request):
        path, method = request.url.path, request.method
        if path == "/metrics":
            return Response(reported(), media_type="text/plain; version=0.0.4")
        headers = [(name, request.headers[name]) for name in FORWARDED if name in request.headers]
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BODY:
                break
        # An empty body is passed on as `None`.
        looked = look(bytes(body))
        call = (method, path, headers, looked.body if body else None, looked.beginning)
        return await self.answered(call, looked.stream)

    async def answered(self, call, stream):
        """Returns the response to `call`. If a replica dies before its stream begins or its unstreamed answer is complete, tries another one."""
        for left in reversed(range(self.attempts)):
            try:
                parts = self.ask(call)
                status, headers = await anext(parts)
                if stream and status == 200:
                    return StreamingResponse(self.events(call, parts, left), status, dict(headers))
                body = b"".join([piece async for piece in parts])
                if status >= 500 and left and is_leaving(json.loads(body)):
                    continue
                return Response(body, status, dict(headers))
            except BackPressureError:
                message = "every replica is full: retry later"
                return refusal(429, message, "rate_limit_error", "queue_full", {"retry-after": "1"})
            except GONE as error:
                LOG.warning("a replica is gone, asking another: %s", type(error).__name__)
        return refusal(503, "all replicas that were tried are gone", "server_error", "replicas_gone", {"retry-after": "5"})

    def ask(self, call):
        method, path, headers, body, beginning = call
        return aiter(self.replicas.answer.remote(method, path, headers, body, beginning=beginning))

    async def events(self, call, parts, left):
        """Yields the events of a stream. If the replica dies, continues with another one at the first unsent event."""
        resumed = Resumed()
        while True:
            try:
                async for piece in parts:
                    for event in resumed.take(piece):
                        yield event
                if resumed.buffer == b"":
                    return
                why = "the answer broke off"
            except (*GONE, BackPressureError, Cut) as error:
                why = type(error).__name__
            except Differs:
                why, left = "another replica gives a different answer", 0
            if not left:
                yield b"data: " + json.dumps(error_body(why, "server_error", "replicas_gone")).encode() + b"\n\n"
                return
            left -= 1
            LOG.warning("a replica is gone in the middle of an answer (%s); another one continues", why)
            try:
                parts = self.ask(call)
                status, _ = await anext(parts)
                resumed.again()
            except (*GONE, BackPressureError) as error:
                parts = failing(error)


async def failing(error):
    """Raises `error` in place of the first part of an answer."""
    raise error
    yield


def error_body(message, kind, code):
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def refusal(status, message, kind, code, headers):
    return JSONResponse(error_body(message, kind, code), status, headers)


def app(options: Options):
    """Builds the application from its arguments."""
    handed = 2 * options.max_batch
    scaling = None
    if options.replicas is None:
        scaling = AutoscalingConfig(
            min_replicas=options.min_replicas,
            max_replicas=options.max_replicas,
            target_ongoing_requests=options.max_batch,
            upscale_delay_s=options.scale_delay_s,
            downscale_delay_s=30 * options.scale_delay_s,
            # Measures the queue often enough for these delays.
            metrics_interval_s=max(0.2, options.scale_delay_s / 2),
            look_back_period_s=max(1.0, 2 * options.scale_delay_s),
        )
    given = options.model_dump()
    replicas = serve.deployment(
        Replica,
        name="replica",
        num_replicas=options.replicas,
        autoscaling_config=scaling,
        max_ongoing_requests=handed,
        max_queued_requests=options.max_queue,
        ray_actor_options={"num_cpus": options.cpus},
        health_check_period_s=2,
        graceful_shutdown_timeout_s=30,
        request_router_config=RequestRouterConfig(
            request_router_class=CLASSES[options.routing],
            request_routing_stats_period_s=0.5,
        ),
    ).bind(given)
    fronts = serve.deployment(
        Front,
        name="front",
        num_replicas=options.fronts,
        # The limit counts each answer in progress. It is high, because the front itself rejects excess requests.
        max_ongoing_requests=4096,
        ray_actor_options={"num_cpus": 0.1},
    )
    return fronts.bind(replicas, given)
