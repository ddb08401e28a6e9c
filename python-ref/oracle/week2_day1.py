"""Week 2, day 1: the KV cache."""


def cases(out):
    """Adds the cases of the day."""
