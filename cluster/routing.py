"""Which replica gets a request: two routers for Ray Serve's extension point, `RequestRouterConfig`.

A router lives wherever a handle to the replicas is: here, in each front. It is asked for ranks of replicas, and Ray asks those of
the first rank whether they have room before it goes on to the next.
"""

import hashlib

from ray.serve.request_router import RequestRouter

from . import figures


class Routing(RequestRouter):
    """What both have in common."""

    def initialize_state(self):
        figures.ROUTERS.append(self)

    def open_requests(self, replica):
        """How many it has, as far as is known here; a replica that has not been asked yet has none."""
        return self.replica_queue_len_cache.get(replica.replica_id) or 0

    def order(self, candidates, key):
        """The replicas, the one that should have the request first."""
        raise NotImplementedError

    async def choose_replicas(self, candidate_replicas, pending_request=None):
        key = ""
        if pending_request is not None:
            key = pending_request.kwargs.get("beginning", "")
            # Where nobody has room, Ray waits a little before it asks again.
            pending_request.routing_context.should_backoff = True
        return [[replica] for replica in self.order(candidate_replicas, key)]


class RoundRobin(Routing):
    """Each in turn."""

    def initialize_state(self):
        super().initialize_state()
        self.turn = 0

    def order(self, candidates, key):
        candidates = sorted(candidates, key=name)
        self.turn += 1
        at = self.turn % len(candidates) if candidates else 0
        return candidates[at:] + candidates[:at]


class Prefix(Routing):
    """The replica that has had the same beginning before, unless it has far more to do than another: the rule that
    `cargo llm simulate --routing prefix` has. Homes are drawn so that one replica more or less moves only its own share."""

    def order(self, candidates, key):
        if not key:
            return sorted(candidates, key=self.open_requests)
        homes = sorted(candidates, key=lambda replica: draw(key, name(replica)), reverse=True)
        if not homes:
            return homes
        least = min(homes, key=self.open_requests)
        # Work that is saved is no help if it has to wait for twice as much.
        if self.open_requests(homes[0]) > 2 * self.open_requests(least) + 8:
            homes.remove(least)
            homes.insert(0, least)
        return homes


def name(replica):
    return replica.replica_id.unique_id


def draw(key, of):
    """A number that the two have in common, and nothing else has."""
    return hashlib.blake2b(f"{key}\0{of}".encode(), digest_size=8).digest()


CLASSES = {"prefix": Prefix, "round-robin": RoundRobin}
