def string(text: bytes) -> tuple[int, bool]:
    """How many of the bytes behind a quotation mark may follow, and whether they end the string."""

def number(text: bytes) -> tuple[int, bool]:
    """How many bytes may follow as parts of one number, and whether all of them are one."""

def follow(text: bytes) -> tuple[int, bool]:
    """How many bytes of a text of JSON may follow, and whether all of them are one."""
