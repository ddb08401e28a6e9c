"""Chooses the replica for a request: two routers for Ray Serve's extension point, `RequestRouterConfig`.

Each handle to the replicas has a router, so each front has one. A router returns ranks of replicas. Ray checks whether a replica of
the first rank has room before it tries the next rank.
"""

import hashlib

from ray.serve.request_router import RequestRouter

from . import figures


class Routing(RequestRouter):
    """Base class of both routers."""

    def initialize_state(self):
        figures.ROUTERS.append(self)

    def open_requests(self, replica):
        """Returns the number of open requests of a replica, from a cache, or 0 if it is unknown."""
        return self.replica_queue_len_cache.get(replica.replica_id) or 0

    def order(self, candidates, key):
        """Returns `candidates` in the order in which they should be tried for a prompt that begins with `key`."""
        raise NotImplementedError

    async def choose_replicas(self, candidate_replicas, pending_request=None):
        key = ""
        if pending_request is not None:
            key = pending_request.kwargs.get("beginning", "")
            # If no replica has room, Ray waits a little before it tries again.
            pending_request.routing_context.should_backoff = True
        return [[replica] for replica in self.order(candidate_replicas, key)]


class RoundRobin(Routing):
    """Chooses the replicas in turn."""

    def initialize_state(self):
        super().initialize_state()
        self.turn = 0

    def order(self, candidates, key):
        candidates = sorted(candidates, key=name)
        self.turn += 1
        at = self.turn % len(candidates) if candidates else 0
        return candidates[at:] + candidates[:at]


class Prefix(Routing):
    """Chooses the home replica of a prompt's beginning, unless it has far more open requests than another replica.
    `cargo llm simulate --routing prefix` has the same limit. Adding or removing a replica moves only the prompts whose home it is."""

    def order(self, candidates, key):
        if not key:
            return sorted(candidates, key=self.open_requests)
        homes = sorted(candidates, key=lambda replica: draw(key, name(replica)), reverse=True)
        if not homes:
            return homes
        least = min(homes, key=self.open_requests)
        # A cache hit does not pay if far more requests are open at the home than at another replica.
        if self.open_requests(homes[0]) > 2 * self.open_requests(least) + 8:
            homes.remove(least)
            homes.insert(0, least)
        return homes


def name(replica):
    return replica.replica_id.unique_id


def draw(key, of):
    """Returns a hash of `key`, a prompt's beginning, and `of`, a replica's name. The replica with the largest hash is the beginning's home."""
    return hashlib.blake2b(f"{key}\0{of}".encode(), digest_size=8).digest()


CLASSES = {"prefix": Prefix, "round-robin": RoundRobin}
