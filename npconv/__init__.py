"""npconv: convolution and every derivative of it, in NumPy.

One kernel, a NumPy im2col forward, does all the multiplying; every gradient is that forward composed
with pad, flip and stride-dilation.  Names, argument orders and meanings are PyTorch's.
"""

from npconv import needs  # noqa: F401  first: what follows imports NumPy
from npconv.derivatives import jvp, vjp
from npconv.functional import (
    conv,
    conv1d,
    conv1d_backward,
    conv1d_bias,
    conv1d_double_backward,
    conv1d_input,
    conv1d_weight,
    conv2d,
    conv2d_backward,
    conv2d_bias,
    conv2d_double_backward,
    conv2d_input,
    conv2d_weight,
    conv3d,
    conv3d_backward,
    conv3d_bias,
    conv3d_double_backward,
    conv3d_input,
    conv3d_weight,
    conv_backward,
    conv_bias,
    conv_double_backward,
    conv_input,
    conv_weight,
)
from npconv.general import conv_general_dilated
from npconv.integer import conv_integer
from npconv.padding import pad, pad_adjoint
from npconv.transposed import (
    conv_transpose,
    conv_transpose1d,
    conv_transpose1d_backward,
    conv_transpose2d,
    conv_transpose2d_backward,
    conv_transpose3d,
    conv_transpose3d_backward,
    conv_transpose_backward,
)

__version__ = "0.1.0"

__all__ = [
    "conv",
    "conv1d",
    "conv1d_backward",
    "conv1d_bias",
    "conv1d_double_backward",
    "conv1d_input",
    "conv1d_weight",
    "conv2d",
    "conv2d_backward",
    "conv2d_bias",
    "conv2d_double_backward",
    "conv2d_input",
    "conv2d_weight",
    "conv3d",
    "conv3d_backward",
    "conv3d_bias",
    "conv3d_double_backward",
    "conv3d_input",
    "conv3d_weight",
    "conv_backward",
    "conv_bias",
    "conv_double_backward",
    "conv_general_dilated",
    "conv_input",
    "conv_integer",
    "conv_transpose",
    "conv_transpose1d",
    "conv_transpose1d_backward",
    "conv_transpose2d",
    "conv_transpose2d_backward",
    "conv_transpose3d",
    "conv_transpose3d_backward",
    "conv_transpose_backward",
    "conv_weight",
    "jvp",
    "pad",
    "pad_adjoint",
    "vjp",
]
