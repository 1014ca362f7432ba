"""What an error must say, written as its parts in order: "padding: it is 3 ... must be 2"."""

import re


def saying(text: str) -> str:
    """A pattern for pytest.raises: these parts, in this order, with anything between them."""
    return ".*".join(re.escape(part) for part in text.split(" ... "))
