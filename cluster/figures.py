"""Collects the replicas' metrics in a front.

Ray pickles a router's module by value, and would copy a list in it. The list of routers is therefore in this module."""

ROUTERS = []
"""The routers of this process."""


def reported():
    """Returns the metrics of all replicas in Prometheus' format, with the replica's name as a label."""
    lines = []
    for router in ROUTERS[-1:]:
        for replica in router.curr_replicas.values():
            for line in (replica.routing_stats or {}).get("metrics", "").splitlines():
                if not line or line.startswith("#"):
                    continue
                metric, value = line.rsplit(" ", 1)
                metric, _, labels = metric.removesuffix("}").partition("{")
                labels = ",".join(filter(None, [f'replica="{replica.replica_id.unique_id}"', labels]))
                lines.append(f"{metric}{{{labels}}} {value}")
    return "\n".join(lines) + "\n"
