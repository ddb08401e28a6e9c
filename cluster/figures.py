"""What replicas tell of themselves, as a front has it.

Ray pickles a router's module by value, and so the list of routers stands in this one."""

ROUTERS = []
"""Those of this process."""


def reported():
    """The figures of all replicas, in Prometheus' form, each line with its replica's name."""
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
