"""Every condition of a trigger, on problems written down by hand, and told from every other."""

import pytest
from npconv.problem import Problem
from npconv.testing.conditions import CONDITIONS, DIVISORS, OBLONG, PLAIN, SPECIAL, THRESHOLDS, VALUES
from npconv.testing.further import further
from npconv.testing.problems import covering, full
from npconv.testing.trigger import conditions_of, trigger

# What meets a condition, and what misses it by little; blanks part the problems.
BY_HAND = {
    "groups > 1": ("C2O2G2_i3x4_k1", "C2O2_i3x4_k1"),
    "stride > 1": ("i5x6_k1_s1x2 i5x6_k1_s2x1", "i5x6_k2_d2"),
    "dilation > 1": ("i5x6_k2_d1x2 i5x6_k1_d2x1", "i5x6_k2_s2"),
    "padding > 0": ("i3x4_k1_p0x0:1 i3x4_k1_p1:-1x0", "i3x4_k1_p-1 i3x4_k1"),
    "padding is not 0": ("i3x4_k1_p0x0:-1 i3x4_k1_p1:0x0", "i3x4_k1"),
    "negative padding": ("i3x4_k1_p0x2:-1 i3x4_k1_p-1:0x0", "i3x4_k1_p1 i3x4_k1"),
    "uneven padding (lo and hi differ)": ("i3x4_k1_p0x0:1 i3x4_k1_p-1:0x0", "i3x4_k1_p0x1 i3x4_k1_p-1x2"),
    "remainder > 0": ("i4x5_k1_s2 transposed_i3x4_k1_s2_op0x1", "i5x7_k1_s2 transposed_i3x4_k1_s2"),
    "bias": ("i3x4_k1_bias", "i3x4_k1"),
    "no bias": ("i3x4_k1", "i3x4_k1_bias"),
    "batch > 1": ("N2_i3x4_k1", "i3x4_k1"),
    "taps > 1": ("i3x4_k1x2 i3x4_k2x1", "i3x4_k1"),
    "an even number of taps": ("i3x4_k3x2 i3x4_k2x1", "i3x4_k3x1"),
    "more than one input channel": ("C2_i3x4_k1", "O2_i3x4_k1"),
    "more than one input channel a group": ("C4O2G2_i3x4_k1", "C2O4G2_i3x4_k1"),
    "more than one output channel": ("O2_i3x4_k1", "C2_i3x4_k1"),
    "more than one output channel a group": ("C2O4G2_i3x4_k1", "C4O2G2_i3x4_k1"),
    "C/G and O/G differ": ("C2O4G2_i3x4_k1 C2_i3x4_k1", "C4O4G2_i3x4_k1"),
    "height and width of the taps differ": ("i3x4_k1x2", "i3x4_k2"),
    "the strides differ": ("i5x6_k1_s1x2", "i5x6_k1_s2"),
    "the dilations differ": ("i5x6_k2_d1x2", "i5x6_k2_d2"),
    "stride and dilation differ": ("i5x6_k1_s2x1 i5x6_k2_d2", "i5x6_k2_s2_d2 i5x6_k2"),
    "stride and dilation > 1 on one axis": ("i5x6_k2_s2x1_d2x1", "i5x6_k2_s2x1_d1x2"),
    "stride > taps": ("i5x6_k2_s1x3", "i5x6_k2_s2"),
    "stride and dilation have a common divisor": ("i9x9_k2_s4x1_d2x1", "i9x9_k2_s4x3_d3x2"),
    "padding above K-1": ("i3x4_k2_p2x0 i3x4_k1_p0x0:1", "i3x4_k2_p1 i5x6_k2_p2_d2"),
    "taps > 2": ("i3x4_k1x3 i3x4_k3x2", "i3x4_k2x1"),
    "an odd number of taps above 1": ("i3x4_k2x3", "i3x4_k2x1"),
    "wider than high": ("i3x4_k1", "i4x3_k1 i4x4_k1 i4_k1"),
    "higher than wide": ("i4x3_k1", "i3x4_k1 i4x4_k1 i4_k1"),
    "lo is not 0": ("i3x4_k1_p0x-1:0 i3x4_k1_p1:0x0", "i3x4_k1_p0:1x0:-1"),
    "hi is not 0": ("i3x4_k1_p0x0:-1 i3x4_k1_p0:1x0", "i3x4_k1_p1:0x-1:0"),
    "lo > 0": ("i3x4_k1_p0x1:-1", "i3x4_k1_p0:1x-1:2"),
    "hi > 0": ("i3x4_k1_p0x-1:1", "i3x4_k1_p1:0x2:-1"),
    "lo < 0": ("i3x4_k1_p0x-1:1", "i3x4_k1_p1:0x2:-1"),
    "hi < 0": ("i3x4_k1_p0x1:-1", "i3x4_k1_p0:1x-1:2"),
    "lo < hi": ("i3x4_k1_p0x0:1 i3x4_k1_p-1:0x0", "i3x4_k1_p1:0x1"),
    "lo > hi": ("i3x4_k1_p0x1:0 i3x4_k1_p0:-1x0", "i3x4_k1_p0:1x1"),
    "one group": ("C2O2_i3x4_k1", "C2O2G2_i3x4_k1"),
    "more than 3 channels a side": ("C4_i3x4_k1 O4_i3x4_k1", "C3O3_i3x4_k1"),
    "more than 8 channels a side": ("C9_i3x4_k1 O9_i3x4_k1", "C8O8_i3x4_k1"),
    "more than 16 channels a side": ("C17_i3x4_k1 O17_i3x4_k1", "C16O16_i3x4_k1"),
    "more than 8 positions an axis": ("i9x2_k2 i2x2_k1_p0x0:7", "i8x8_k2"),
    "more than 16 positions an axis": ("i17x2_k2 i2x2_k1_p0x0:15", "i16x16_k2"),
    "more than 32 positions an axis": ("i33x2_k2 i2x2_k1_p0x0:31", "i32x32_k2"),
    "batch > 2": ("N3_i3x4_k1", "N2_i3x4_k1"),
    "stride > 1 on the height": ("i5x6_k1_s2x1", "i5x6_k1_s1x2 i5_k1_s2"),
    "stride > 1 on the width": ("i5x6_k1_s1x2 i5_k1_s2", "i5x6_k1_s2x1"),
    "dilation > 1 on the height": ("i5x6_k2_d2x1", "i5x6_k2_d1x2 i5_k2_d2"),
    "dilation > 1 on the width": ("i5x6_k2_d1x2 i5_k2_d2", "i5x6_k2_d2x1"),
    "taps > 1 on the height": ("i5x6_k2x1", "i5x6_k1x2 i5_k2"),
    "taps > 1 on the width": ("i5x6_k1x2 i5_k2", "i5x6_k2x1"),
    "remainder > 0 on the height": ("i4x5_k1_s2x1", "i5x6_k1_s2 i4_k1_s2"),
    "remainder > 0 on the width": ("i5x6_k1_s2 i4_k1_s2", "i4x5_k1_s2x1"),
    "top padding > 0": ("i4x5_k1_p1:0x0 i4x5_k1_p1:-1x0", "i4x5_k1_p0:1x1 i4_k1_p1"),
    "bottom padding > 0": ("i4x5_k1_p0:1x0 i4x5_k1_p-1:1x0", "i4x5_k1_p1:0x1 i4_k1_p1"),
    "left padding > 0": ("i4x5_k1_p0x1:0 i4_k1_p1:0", "i4x5_k1_p1x0:1 i4_k1_p0:1"),
    "right padding > 0": ("i4x5_k1_p0x0:1 i4_k1_p0:1", "i4x5_k1_p1x1:0 i4_k1_p1:0"),
    "padding on the height": ("i4x5_k1_p0:1x0", "i4x5_k1_p-1x1 i4_k1_p1"),
    "padding on the width": ("i4x5_k1_p0x0:1 i4_k1_p1", "i4x5_k1_p1x-1"),
    "depthwise (G = C = O)": ("C2O2G2_i3x4_k1", "C2O4G2_i3x4_k1 C4O2G2_i3x4_k1 i3x4_k1"),
    "depthwise with several outputs a channel": (
        "C2O4G2_i3x4_k1",
        "C2O2G2_i3x4_k1 C4O4G2_i3x4_k1 O2_i3x4_k1",
    ),
    "one input channel a group": ("C2O2G2_i3x4_k1 C2O4G2_i3x4_k1", "C4O2G2_i3x4_k1 i3x4_k1"),
    "an even number of taps on every axis": ("i5x6_k2x4", "i5x6_k2x3"),
    "dilation and taps > 1 on one axis": ("i5x6_k1x2_d1x2", "i5x6_k1x2_d2x1 i5x6_k2"),
    "stride = taps": ("i6x6_k2x3_s2x3", "i6x6_k2x3_s2 i6x6_k1"),
    "stride = dilation": ("i9x9_k2_s2x3_d2x3", "i9x9_k2_s2_d2x3 i9x9_k2"),
    "a square input": ("i5x5_k1x2 i4x4x4_k1", "i5x4_k1 i5_k1"),
    "a square output": ("i5x4_k2x1 transposed_i5x4_k1x2", "i5x5_k1x2 i5_k1"),
    "height and width alike in everything": ("i5x5_k2_s2_p1:0", "i5x5_k2_p0x1 i5x5_k2_s1x2 i5x5_k1x2 i5_k2"),
    "a window as large as the input": ("i3x4_k3x4 i3x3_k2_d2", "i3x4_k3 i2x2_k3_p0:1"),
    "a window as large as the padded input": ("i3x4_k3x1 i2x4_k3x1_p0:1x0", "i3x4_k2"),
    "one sample": ("i3x4_k1", "N2_i3x4_k1"),
    "padding > 1": ("i3x4_k1_p0x0:2", "i3x4_k1_p1"),
    "padding > 3": ("i3x4_k1_p0x0:4", "i3x4_k1_p3"),
    "padding < -1": ("i5x6_k1_p0x0:-2", "i5x6_k1_p-1"),
    "lo > 3": ("i3x4_k1_p0x4:0", "i3x4_k1_p3:4"),
    "hi > 3": ("i3x4_k1_p0x0:4", "i3x4_k1_p4:3"),
    "lo < -1": ("i5x6_k1_p0x-2:0", "i5x6_k1_p-1:-2"),
    "hi < -1": ("i5x6_k1_p0x0:-2", "i5x6_k1_p-2:-1"),
}

# A problem with the number n in one place; for the numbers of an axis, with n and m on the two.
AXES = {"taps": "i99x99_k{n}x{m}", "stride": "i99x99_k1_s{n}x{m}", "dilation": "i99x99_k2_d{n}x{m}"}
COUNTED = {
    "groups": "C{n}O{n}G{n}_i3x4_k1",
    "batch": "N{n}_i3x4_k1",
    "input channels": "C{n}_i3x4_k1",
    "output channels": "O{n}_i3x4_k1",
    "output height": "i{n}x4_k1 transposed_i{n}x4_k1",
    "output width": "i3x{n}_k1 transposed_i3x{n}_k1",
    "input height": "i{n}x4_k1 transposed_i{n}x9_k2",
    "input width": "i3x{n}_k1 transposed_i3x{n}_k2",
}
GROUPED = {
    "input channels a group": "C{two_n}O2G2_i3x4_k1",
    "output channels a group": "C2O{two_n}G2_i3x4_k1",
}


def _counted(name, n):
    return {**COUNTED, **GROUPED}[name].format(n=n, two_n=2 * n)


def _families():
    for name, line in AXES.items():
        for n in THRESHOLDS[name]:
            yield f"{name} > {n}", line.format(n=1, m=n + 1), line.format(n=n, m=n)
        for n in VALUES[name]:
            one = line.format(n=n, m=n + 1), line.format(n=n + 1, m=n)
            yield f"{name} = {n}", " ".join(one), line.format(n=n + 1, m=n + 2)
            yield f"{name} = {n} on every axis", line.format(n=n, m=n), " ".join(one)
            if n < 4:
                yield f"{name} = {n} on the height", one[0], one[1]
                yield f"{name} = {n} on the width", one[1], one[0]
        for n, m in OBLONG[name]:
            yield f"{name} {n}x{m}", line.format(n=n, m=m), line.format(n=m, m=n)
    for name in (*COUNTED, *GROUPED):
        for n in THRESHOLDS.get(name, ()):
            yield f"{name} > {n}", _counted(name, n + 1), _counted(name, n)
        for n in VALUES.get(name, ()):
            yield f"{name} = {n}", _counted(name, n), _counted(name, n + 1)
        for n in DIVISORS if "channels" in name else ():
            yield f"{name} divisible by {n}", _counted(name, 3 * n), _counted(name, n + n // 2)


EXAMPLES = {**BY_HAND, **{name: (meets, misses) for name, meets, misses in _families()}}


def test_every_condition_has_examples():
    assert set(EXAMPLES) == set(CONDITIONS) and set(BY_HAND) == {*PLAIN, *SPECIAL}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_holds_where_it_should_and_nowhere_else(name):
    meets, misses = ([Problem.parse(line) for line in lines.split()] for lines in EXAMPLES[name])
    assert all(name in conditions_of(problem) for problem in meets)
    assert not any(name in conditions_of(problem) for problem in misses)


def _pool(transposed):
    domain = full(transposed=transposed)
    return [*covering(domain, 3), *further(domain)]


POOLS = {transposed: _pool(transposed) for transposed in (False, True)}


@pytest.mark.parametrize("transposed", POOLS)
@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_is_the_trigger_where_it_alone_parts_failures_from_successes(name, transposed):
    pool = POOLS[transposed]
    failing = [problem for problem in pool if name in conditions_of(problem)]
    passing = [problem for problem in pool if name not in conditions_of(problem)]
    assert failing and trigger(failing, passing) == name
