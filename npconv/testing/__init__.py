"""The referee: is this convolution right, and if not, what exactly is wrong with it.

A verdict rests on exact integers, compared by equality; on index maps, read out with one-hot arrays;
on the trilinear identity; and, for floats, on a derived bound.  There is no tolerance anywhere.
"""

from npconv.testing.assertions import assert_conv_close
from npconv.testing.checking import check
from npconv.testing.float_cases import float_case
from npconv.testing.suite import cases

__all__ = ["assert_conv_close", "cases", "check", "float_case"]
