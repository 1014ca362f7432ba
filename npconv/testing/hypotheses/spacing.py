"""Stride and dilation."""

from npconv.testing.changes import each, first_axis, last_axis, on_one_axis, other_axis
from npconv.testing.fault import Fault
from npconv.testing.hypotheses.sizes import natural_taps

SPACING = (
    Fault("the stride is ignored", believe=each(s=lambda a: 1)),
    *on_one_axis(Fault("the stride is ignored", believe=each(s=lambda a: 1))),
    Fault("the strides of height and width are swapped", believe=other_axis("s")),
    Fault("the height's stride serves all axes", believe=first_axis("s")),
    Fault("the width's stride serves all axes", believe=last_axis("s")),
    Fault("the dilation is ignored", believe=each(d=lambda a: 1)),
    *on_one_axis(Fault("the dilation is ignored", believe=each(d=lambda a: 1))),
    Fault("the dilations of height and width are swapped", believe=other_axis("d")),
    Fault("the height's dilation serves all axes", believe=first_axis("d")),
    Fault("the width's dilation serves all axes", believe=last_axis("d")),
    Fault("stride and dilation are swapped", believe=each(s=lambda a: a.d, d=lambda a: a.s)),
    Fault(
        "stride and dilation are swapped, and the size is what comes of that",
        ("grad_weight",),
        believe=each(s=lambda a: a.d, d=lambda a: a.s),
        size=natural_taps,
    ),
    Fault("the stride is given as the dilation", believe=each(s=lambda a: 1, d=lambda a: a.s)),
    Fault(
        "the stride is given as the dilation of the weight, and grad_output is not spread out",
        ("grad_input",),
        believe=each(s=lambda a: 1, d=lambda a: a.s),
        size=lambda believed, true: [a.o + a.s * (a.k - 1) - a.lo - a.hi for a in true],
    ),
    Fault("the dilation counts from 0: one too many is used", believe=each(d=lambda a: a.d + 1)),
    Fault("the dilation counts from 0: one too few is used", believe=each(d=lambda a: max(a.d - 1, 1))),
    Fault(
        "the dilation counts from 0: of dilation 1 all taps meet one element",
        believe=each(d=lambda a: a.d - 1),
    ),
    Fault("the dilation is 0: all taps meet one element", believe=each(d=lambda a: 0)),
    Fault("the stride also multiplies the taps", believe=each(d=lambda a: a.d * a.s)),
    Fault("the dilation also multiplies the stride", believe=each(s=lambda a: a.d * a.s)),
)
