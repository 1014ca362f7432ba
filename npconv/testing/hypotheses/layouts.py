"""Arrays whose memory is taken to lie in another order."""

from npconv.testing.cells import channels_first, channels_last, planes_turned, square_turned, wrong_pitch
from npconv.testing.fault import GRADIENTS, OUTPUTS, Fault

LAYOUTS = (
    Fault("the input's height and width are swapped", cells={"x": planes_turned}),
    Fault("grad_output's height and width are swapped", GRADIENTS, cells={"g": planes_turned}),
    Fault(
        "the output's height and width are swapped",
        ("forward",),
        cells={"g": planes_turned, "output": planes_turned},
    ),
    Fault("height and width of the input are swapped where they are equal", cells={"x": square_turned}),
    Fault(
        "height and width of the output are swapped where they are equal",
        ("forward",),
        cells={"g": square_turned, "output": square_turned},
    ),
    Fault(
        "height and width of grad_output are swapped where they are equal",
        GRADIENTS,
        cells={"g": square_turned},
    ),
    Fault("NHWC is read as NCHW: the input", cells={"x": channels_first}),
    Fault("NCHW is read as NHWC: the input", cells={"x": channels_last}),
    Fault("NHWC is read as NCHW: grad_output", GRADIENTS, cells={"g": channels_first}),
    Fault("NCHW is read as NHWC: grad_output", GRADIENTS, cells={"g": channels_last}),
    Fault("the result is written as NHWC", OUTPUTS, cells={"output": channels_last}),
    Fault(
        "input and output are taken for NHWC",
        cells={"x": channels_last, "g": channels_last, "output": channels_last},
    ),
    Fault("rows of the input are counted with its height in place of its width", cells={"x": wrong_pitch}),
)
