"""How much padding stands where."""

import numpy as np

from npconv.testing.changes import (
    OUTSIDE,
    begins_then_ends,
    each,
    first_axis,
    last_axis,
    on_one_axis,
    other_axis,
)
from npconv.testing.fault import Fault

IGNORED = each(lo=lambda a: 0, hi=lambda a: 0)
SWAPPED = each(lo=lambda a: a.hi, hi=lambda a: a.lo)

PADDING = (
    Fault("the padding is ignored", believe=IGNORED),
    Fault("begin and end of the padding are swapped", believe=SWAPPED),
    *on_one_axis(Fault("begin and end of the padding are swapped", believe=SWAPPED)),
    *on_one_axis(Fault("the padding is ignored", believe=IGNORED)),
    Fault("the end's padding is used at the begin too", believe=each(lo=lambda a: a.hi)),
    Fault("the begin's padding is used at the end too", believe=each(hi=lambda a: a.lo)),
    Fault("the paddings of height and width are swapped", believe=other_axis("lo", "hi")),
    Fault("the height's padding serves all axes", believe=first_axis("lo", "hi")),
    Fault("the width's padding serves all axes", believe=last_axis("lo", "hi")),
    Fault(
        "the pads (top, bottom, left, right) are taken for (top, left, bottom, right)",
        believe=begins_then_ends,
    ),
    Fault("the padding is put at the begin only", believe=each(lo=lambda a: a.lo + a.hi, hi=lambda a: 0)),
    Fault("the padding is put at the end only", believe=each(lo=lambda a: 0, hi=lambda a: a.lo + a.hi)),
    Fault(
        "uneven padding is split evenly, the odd one at the end",
        believe=each(lo=lambda a: (a.lo + a.hi) // 2, hi=lambda a: -(-(a.lo + a.hi) // 2)),
    ),
    Fault(
        "uneven padding is split evenly, the odd one at the begin",
        believe=each(lo=lambda a: -(-(a.lo + a.hi) // 2), hi=lambda a: (a.lo + a.hi) // 2),
    ),
    Fault("the padding is applied twice", believe=each(lo=lambda a: 2 * a.lo, hi=lambda a: 2 * a.hi)),
    Fault(
        "a negative padding crops twice",
        believe=each(lo=lambda a: min(a.lo, 2 * a.lo), hi=lambda a: min(a.hi, 2 * a.hi)),
    ),
    Fault(
        "a negative padding is ignored", believe=each(lo=lambda a: max(a.lo, 0), hi=lambda a: max(a.hi, 0))
    ),
    Fault("a negative padding at the begin is ignored", believe=each(lo=lambda a: max(a.lo, 0))),
    Fault(
        "a negative padding at the begin is ignored along the width",
        believe=each(lo=lambda a: max(a.lo, 0)),
        axis=-1,
    ),
    Fault(
        "a negative padding at the begin is ignored along the height",
        believe=each(lo=lambda a: max(a.lo, 0)),
        axis=-2,
    ),
    Fault(
        "a negative padding at the begin crops the end",
        believe=each(lo=lambda a: max(a.lo, 0)),
        look=lambda t, a: np.where(t >= a.i + min(a.lo, 0), OUTSIDE, t),
    ),
    Fault("a negative padding pads", believe=each(lo=lambda a: abs(a.lo), hi=lambda a: abs(a.hi))),
    Fault(
        "the padding is multiplied by the dilation",
        believe=each(lo=lambda a: a.d * a.lo, hi=lambda a: a.d * a.hi),
    ),
    Fault(
        "the padding is multiplied by the stride",
        believe=each(lo=lambda a: a.s * a.lo, hi=lambda a: a.s * a.hi),
    ),
    Fault("the padding is one too small at the begin", believe=each(lo=lambda a: a.lo - (a.lo > 0))),
    Fault("the padding is one too large at the begin", believe=each(lo=lambda a: a.lo + (a.lo > 0))),
)
