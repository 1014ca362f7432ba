"""Evidence accepts what rounding explains, whoever computed it, and nothing else."""

import ml_dtypes
import numpy as np
import pytest
import torch

import npconv
from npconv.bound import BFLOAT16, growth
from npconv.job.bfloat16 import RAW, narrowed
from npconv.job.evidence import Evidence
from npconv.job.kinds import widest
from npconv.job.layer import RESULTS, Layer, as_numbers

X, W, G = np.array([[[1, 2, 3]]]), np.array([[[1, 10]]]), np.array([[[1, 100]]])
U32 = 2.0**-24


def evidence(x, w, g, bias=None, transposed=False, **parameters):
    layer = Layer(x, w, bias, g, parameters, transposed)
    with np.errstate(all="ignore"):
        return Evidence(layer, layer.results())


def normal(seed, kind="f4", input_shape=(2, 3, 6, 5), weight_shape=(4, 3, 3, 2), **parameters):
    """A layer of normally distributed numbers of any kind, raw bfloat16 for V2."""
    random = np.random.default_rng(seed)

    def draw(shape):
        numbers = random.normal(size=shape)
        if np.dtype(kind).kind == "c":
            numbers = numbers + 1j * random.normal(size=shape)
        return numbers.astype(ml_dtypes.bfloat16).view(RAW) if kind == "V2" else numbers.astype(kind)

    function = npconv.conv_transpose if parameters.get("transposed") else npconv.conv
    keywords = {name: value for name, value in parameters.items() if name != "transposed"}
    output = function(np.zeros(input_shape, "i1"), np.zeros(weight_shape, "i1"), **keywords)
    channels = output.shape[1]
    return evidence(
        draw(input_shape), draw(weight_shape), draw(output.shape), draw((channels,)), **parameters
    )


# ---------------------------------------------------------------- one number, three ways


def test_three_exact_integers():
    """By hand: output (21, 32), grad_input (1, 110, 1000), grad_weight (201, 302)."""
    identity = evidence(X, W, G).identity()
    assert identity.values == (1 * 21 + 100 * 32, 1 * 1 + 2 * 110 + 3 * 1000, 1 * 201 + 10 * 302)
    assert identity.exact and identity.holds and identity.difference == 0


def test_a_bias_has_no_part_in_it():
    assert evidence(X, W, G, bias=np.array([7])).identity().values == (3221,) * 3
    assert evidence(X / 1, W / 1, G / 1, bias=np.array([7.0])).identity().values == (3221,) * 3


def test_integers_beyond_int64_stay_exact():
    big = evidence(X * 2**20, W * 2**20, G * 2**20).identity()
    assert big.values == (3221 * 2**60,) * 3 and 3221 * 2**60 > 2**63


@pytest.mark.parametrize("kind, wider", [("f2", "f4"), ("V2", "f4"), ("f4", "f8"), ("f8", "g"), ("f4", "c8")])
def test_a_bias_of_a_wider_kind_has_no_part_in_it_either(kind, wider):
    for seed in range(5):
        plain = normal(seed, kind).layer
        bias = as_numbers(plain.bias).astype(wider)
        identity = evidence(plain.input, plain.weight, plain.grad_output, bias).identity()
        assert 0 < identity.fraction <= 1


@pytest.mark.parametrize("kind, size", [("f8", "1e-200"), ("g", "1e-2500"), ("g", "1e-400"), ("g", "1e400")])
def test_it_holds_at_the_ends_of_the_range(kind, size):
    """At 1e-200 and 1e-2500 the output's products fall below what the kind holds."""
    x = np.full((1, 2, 3), np.longdouble(size)).astype(kind)
    for g in (np.ones((1, 1, 2), kind), np.full((1, 1, 2), 1e-30, kind)):
        assert 0 <= evidence(x, x[:, :, :2] * 3, g).identity().fraction <= 1


@pytest.mark.parametrize("name", RESULTS[:3])
def test_one_wrong_integer_breaks_it(name):
    proof = evidence(X, W, G)
    for index in np.ndindex(proof.results[name].shape):
        proof.results[name][index] += 1
        assert not proof.identity().holds
        proof.results[name][index] -= 1
    assert proof.identity().holds


KINDS = ["f2", "f4", "f8", "g", "c8", "c16", "V2"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "parameters", [dict(), dict(stride=2, padding=1), dict(padding=1, padding_mode="replicate")]
)
def test_floats_keep_it_within_their_rounding(kind, parameters):
    for seed in range(10):
        identity = normal(seed, kind, **parameters).identity()
        assert not identity.exact and 0 <= identity.fraction <= 1


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("name", RESULTS[1:3])
def test_a_wrong_float_breaks_it(kind, name):
    proof = normal(1, kind)
    proof.results[name].flat[7] *= -3
    assert proof.identity().fraction > 1


def test_a_real_input_under_a_complex_weight():
    random = np.random.default_rng(1)
    x, w = random.normal(size=(1, 2, 6)), random.normal(size=(3, 2, 3, 2)).view(complex)[..., 0]
    g = random.normal(size=(1, 3, 4, 2)).view(complex)[..., 0]
    proof = evidence(x, w, g)
    assert proof.results["grad_input"].dtype == float and proof.identity().holds
    (comparison,) = proof.compare({"grad_input": proof.results["grad_input"]})
    assert comparison.format.complex  # it is the real part of a complex sum


def test_transposed_floats_keep_it():
    proof = normal(
        3, input_shape=(2, 3, 4), weight_shape=(3, 2, 3), stride=2, output_padding=1, transposed=True
    )
    assert 0 < proof.identity().fraction <= 1


def test_what_is_not_finite_is_no_evidence():
    identity = evidence(np.array([[[1.0, np.nan]]]), np.ones((1, 1, 1)), np.ones((1, 1, 2))).identity()
    assert np.isnan(identity.fraction) and identity.holds


def test_an_empty_layer_has_empty_evidence():
    identity = evidence(np.ones((0, 2, 5)), np.ones((3, 2, 3)), np.ones((0, 3, 3))).identity()
    assert identity.values == (0, 0, 0) and identity.holds


# ---------------------------------------------------------------- against other implementations


def by_torch(layer, dtype):
    tensors = [
        torch.tensor(np.asarray(a), dtype=dtype)
        for a in (layer.input, layer.weight, layer.bias, layer.grad_output)
    ]
    x, w, b, g = (tensor.requires_grad_() for tensor in tensors)
    y = torch.nn.functional.conv2d(x, w, b, **layer.parameters)
    gradients = torch.autograd.grad(y, (x, w, b), g)
    return dict(zip(RESULTS, (tensor.detach() for tensor in (y, *gradients))))


@pytest.mark.parametrize(
    "kind, dtype",
    [("f4", torch.float32), ("f8", torch.float64), ("c8", torch.complex64), ("c16", torch.complex128)],
)
@pytest.mark.parametrize(
    "parameters", [dict(), dict(stride=2, padding=1), dict(dilation=(2, 1), padding=2)], ids=str
)
def test_results_of_torch_are_accepted(kind, dtype, parameters):
    for seed in range(5):
        proof = normal(seed, kind, **parameters)
        expected = {name: tensor.numpy() for name, tensor in by_torch(proof.layer, dtype).items()}
        for comparison in proof.compare(expected):
            assert 0 < comparison.fraction <= 1 and comparison.wrong == comparison.unjudged == 0


def test_the_kind_of_the_coarser_side_counts():
    proof = normal(1, "f8")
    single = {name: tensor.numpy() for name, tensor in by_torch(proof.layer, torch.float32).items()}
    assert all(c.format.name == "float32" and 0 < c.fraction <= 1 for c in proof.compare(single))
    proof = normal(1, "f2")
    wide = {"output": proof.results["output"].astype("f8")}
    (comparison,) = proof.compare(wide)
    assert comparison.format.name == "float16" and 0 < comparison.fraction <= 1


def test_sums_carried_in_float16_are_accepted():
    """One after the other in float16: the worst that an implementation can do."""
    for seed in range(20):
        proof = normal(seed, "f2", (1, 40, 1), (3, 40, 1))
        x, w, b = proof.layer.input[0, :, 0], proof.layer.weight[:, :, 0], proof.layer.bias
        total = np.zeros(3, np.float16)
        for c in range(40):
            total = total + x[c] * w[:, c]
        (comparison,) = proof.compare({"output": (total + b).reshape(1, 3, 1)})
        assert comparison.terms == 41 and 0 < comparison.fraction <= 1


def test_bfloat16_results_are_accepted():
    proof = normal(2, "V2")
    arrays = {name: array.view(ml_dtypes.bfloat16) for name, array in proof.layer.arrays.items()}
    y = npconv.conv(arrays["input"], arrays["weight"], arrays["bias"])
    (comparison,) = proof.compare({"output": y.view(RAW)})
    assert comparison.format == BFLOAT16 and 0 < comparison.fraction <= 1


# ---------------------------------------------------------------- what is not accepted


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("times, wrong", [(0.9, 0), (1.1, 1)])
def test_the_bound_is_where_it_says(name, times, wrong):
    """One element moved by 0.9 and by 1.1 of n*u/(1 - n*u) * (the same sum of absolute values)."""
    proof = normal(4, "f4", stride=2)
    x, w, b, g = (np.abs(array).astype(float) for array in proof.layer.arrays.values())
    sizes = npconv.conv(x, w, b, stride=2), *npconv.conv_backward(g, x, w, stride=2)
    size = dict(zip(RESULTS, sizes))[name]
    due = proof.layer.map(widest).results()[name]
    moved, index = due.copy(), tuple(int(n) for n in np.unravel_index(size.argmax(), size.shape))
    n = proof.rounding.terms[name]
    moved[index] += times * n * U32 / (1 - n * U32) * size[index]
    (comparison,) = proof.compare({name: moved.astype("f8")})
    assert (comparison.wrong, comparison.index) == (wrong, index)
    assert comparison.fraction == pytest.approx(times, rel=1e-5)
    assert comparison.got == moved[index] and comparison.due == due[index]


@pytest.mark.parametrize("times, wrong", [(1.5, 0), (2.5, 1)])
def test_a_reference_in_the_same_kind_may_be_off_by_as_much(times, wrong):
    """There is nothing wider than longdouble to compute it in."""
    proof = evidence(*(np.ones((1, n, 1), "g") for n in (8, 8)), np.ones((1, 1, 1), "g"))
    u = np.finfo("g").eps / 2
    (comparison,) = proof.compare({"output": 8 + times * 8 * u / (1 - 8 * u) * np.full((1, 1, 1), 8, "g")})
    assert comparison.wrong == wrong


def test_where_all_products_are_zero_the_result_must_be():
    proof = evidence(np.zeros((1, 1, 3), "f4"), np.ones((1, 1, 1), "f4"), np.ones((1, 1, 3), "f4"))
    (comparison,) = proof.compare({"output": np.array([[[0, -0.0, 0]]], "f4")})
    assert comparison.fraction == 0 and comparison.wrong == 0
    (comparison,) = proof.compare({"output": np.array([[[0, 1e-44, 0]]], "f4")})
    assert (comparison.fraction, comparison.wrong, comparison.index) == (np.inf, 1, (0, 0, 1))


def test_a_product_below_the_range_may_be_zero_or_not():
    """By hand: 1e-200 * 1e-200 = 1e-400, and nothing that float64 holds but 0 is so near."""
    x = np.full((1, 1, 1), 1e-200)
    (comparison,) = evidence(x, x, x / x).compare({"output": np.zeros((1, 1, 1))})
    assert 0 < comparison.fraction < 1e-70 and not comparison.wrong
    (comparison,) = evidence(x, x, x / x).compare({"output": np.full((1, 1, 1), 1e-322)})
    assert comparison.wrong and np.isfinite(comparison.fraction)


@pytest.mark.parametrize("size", ["1e-400", "1e-4000", "1e400", "1e4000"])
@pytest.mark.parametrize("times, wrong", [(0, 1), (1, 0), (2, 1)])
def test_longdouble_is_judged_over_its_whole_range(size, times, wrong):
    x = np.full((1, 1, 1), np.longdouble(size))
    (comparison,) = evidence(x, np.ones_like(x), np.ones_like(x)).compare({"output": times * x})
    assert (comparison.wrong, comparison.unjudged) == (wrong, 0)


def test_a_zero_beside_an_infinity_is_not_judged():
    proof = evidence(np.array([[[0.0, 1.0]]]), np.array([[[np.inf]]]), np.ones((1, 1, 2)))
    with np.errstate(invalid="ignore"):
        (comparison,) = proof.compare({"output": np.array([[[np.nan, np.inf]]])})
    assert (comparison.wrong, comparison.unjudged) == (0, 2)


def test_factors_that_the_kind_cannot_hold_round_once_more():
    """int64 beyond 2^53 in float64, float64 in float32: u for each such factor, beside u for the product."""
    x = np.arange(2**60 + 1, 2**60 + 200 * 10**15, 10**15 + 7)[None, None]
    proof = evidence(x, np.array([[[0.3]]]), np.ones(x.shape))
    (comparison,) = proof.compare({"output": proof.results["output"]})
    assert 0.5 < comparison.fraction <= 1 and comparison.terms == 2 and not comparison.suspicious
    random = np.random.default_rng(1)
    x, w = random.uniform(1, 2, (1, 1, 5000)), random.uniform(1, 2, (1, 1, 1))
    single = x.astype("f4") * w.astype("f4")
    (comparison,) = evidence(x, w, np.ones(x.shape)).compare({"output": single})
    assert 1 / 3 < comparison.fraction <= 1 and comparison.terms == 3


@pytest.mark.parametrize("kind, largest, terms", [("f4", 2**24, 1), ("f4", 2**24 + 1, 2), ("f8", 2**53, 1)])
def test_integers_that_the_kind_holds_do_not(kind, largest, terms):
    proof = evidence(np.array([[[largest]]]), np.array([[[0.5]]], kind), np.ones((1, 1, 1), kind))
    (comparison,) = proof.compare({"output": np.array([[[largest * 0.5]]], kind)})
    assert comparison.terms == terms


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_beside_a_finite_result_is_wrong(value):
    (comparison,) = evidence(X / 1, W / 1, G / 1).compare({"output": np.array([[[21, value]]])})
    assert (comparison.fraction, comparison.wrong, comparison.index) == (np.inf, 1, (0, 0, 1))


def test_where_the_input_is_not_finite_nothing_is_judged():
    x = np.array([[[1, np.nan, 3, 4, np.inf, 6, 7]]])
    proof = evidence(x, np.ones((1, 1, 2)), np.ones((1, 1, 6)))
    (comparison,) = proof.compare({"output": np.array([[[0, np.nan, 7, np.inf, 0, 13.5]]])})
    assert (comparison.unjudged, comparison.wrong, comparison.index) == (4, 1, (0, 0, 5))


def test_an_infinity_may_stand_where_the_kind_ends():
    proof = evidence(*(np.array([[[n]]], "f2") for n in (300, 300, 1)))
    (comparison,) = proof.compare({"output": np.array([[[np.inf]]], "f2")})
    assert (comparison.unjudged, comparison.wrong) == (1, 0)
    (comparison,) = evidence(*(np.array([[[n]]], "f2") for n in (3, 3, 1))).compare(
        {"output": np.array([[[np.inf]]], "f2")}
    )
    assert (comparison.unjudged, comparison.wrong) == (0, 1)


def test_a_float16_result_below_the_normal_range_is_accepted():
    x = np.array([[[2.0**-13]]], "f2")
    proof = evidence(x, x * np.float16(0.011), np.ones((1, 1, 1), "f2"))
    (comparison,) = proof.compare({"output": np.array([[[0]]], "f2")})
    assert 0 < comparison.fraction <= 1


def test_a_bound_without_end_goes_on_as_n_times_u():
    proof = evidence(*(np.ones((1, n, 1), "f2") for n in (4096, 4096)), np.ones((1, 1, 1), "f2"))
    (comparison,) = proof.compare(
        {"output": np.array([[[2048]]], "f2")}
    )  # where a running sum of ones sticks
    assert comparison.fraction == pytest.approx(2048 / (growth(4096, 2.0**-11) * 4096), rel=1e-5)


# ---------------------------------------------------------------- beyond what rounding usually does

LARGE = dict(input_shape=(2, 3, 60, 60), weight_shape=(4, 3, 3, 3))


@pytest.mark.parametrize(
    "kind, dtype", [("f4", torch.float32), ("f2", torch.float16), ("V2", torch.bfloat16)]
)
@pytest.mark.parametrize("parameters", [dict(padding=1), dict(stride=2), dict(dilation=2)], ids=str)
def test_results_of_torch_rounded_once_are_not_suspicious(kind, dtype, parameters):
    proof = normal(1, kind, **LARGE, **parameters)
    arrays = proof.layer.map(lambda a: a)  # bfloat16 as the float32 that it is
    # Asked for float16, PyTorch carries its sums in float16 on processors without such units.
    results = {name: tensor.to(dtype) for name, tensor in by_torch(arrays, torch.float32).items()}
    given = {
        name: t.float().numpy().astype(ml_dtypes.bfloat16).view(RAW) if kind == "V2" else t.numpy()
        for name, t in results.items()
    }
    for comparison in proof.compare(given):
        assert not comparison.suspicious and not comparison.wrong
        assert all(0 < usual.fraction <= 1 for usual in comparison.usual)
        assert comparison.usual or kind == "f4" and comparison.terms < 60


@pytest.mark.parametrize("name", ["grad_weight", "grad_bias"])
@pytest.mark.parametrize("kind", ["f4", "f2", "V2"])
def test_two_percent_too_much_is_wrong_or_suspicious(name, kind):
    """Far below the worst case where thousands of terms are summed."""
    proof = normal(1, kind, **LARGE)
    result = as_numbers(proof.results[name])
    larger = (result * np.asarray(1.02, result.dtype)).astype(result.dtype)
    (comparison,) = proof.compare({name: narrowed(larger) if kind == "V2" else larger})
    assert comparison.suspicious or kind == "f4" and comparison.wrong
    assert comparison.usual[-1].fraction > 2


def test_the_element_that_is_shown_is_the_suspicious_one():
    """In float16 the worst case sees only the sum of |terms|, the final rounding the sum itself."""
    proof = normal(1, "f2", **LARGE)
    moved = proof.results["grad_weight"].copy()
    moved[2, 1, 0, 1] += np.float16(16)
    (comparison,) = proof.compare({"grad_weight": moved})
    assert (comparison.index, comparison.usual[-1].beyond) == ((2, 1, 0, 1), 1)


def test_what_is_wrong_is_not_called_suspicious():
    proof = normal(1, "f4", **LARGE)
    (comparison,) = proof.compare({"grad_bias": proof.results["grad_bias"] * 9})
    assert comparison.wrong and not comparison.suspicious and comparison.usual[-1].beyond


def test_a_gradient_of_a_mean_is_not_suspicious_however_it_is_summed():
    """Equal terms, one after the other in float32: they round alike, and only the worst case holds."""
    g = np.full((1, 1, 30000), 0.1 / 3, "f4")
    proof = evidence(np.ones((1, 1, 30000), "f4"), np.ones((1, 1, 1), "f4"), g)
    running = np.add.accumulate(g.ravel())[-1:]
    (comparison,) = proof.compare({"grad_bias": running})
    assert comparison.fraction > 0.01 and not comparison.suspicious and not comparison.wrong
    one = np.full((1, 1, 30000), 0.1 / 3, "f4") * np.random.default_rng(1).uniform(1, 2, 30000).astype("f4")
    (comparison,) = evidence(np.ones((1, 1, 30000), "f4"), np.ones((1, 1, 1), "f4"), one).compare(
        {"grad_bias": np.add.accumulate(one.ravel())[-1:] * np.float32(1.0005)}
    )
    assert comparison.suspicious


@pytest.mark.parametrize("kind", ["f4", "f2", "V2"])
def test_integers_that_add_up_exactly_may_not_differ_at_all(kind):
    """Up to 2^24 in float32; what float16 or bfloat16 cannot hold is rounded once at the end."""
    random = np.random.default_rng(2)
    shapes = (2, 3, 40), (4, 3, 3), (2, 4, 38)
    x, w, g = (random.integers(-4, 5, shape).astype("f4") for shape in shapes)
    change = {"f4": lambda a: a, "f2": lambda a: a.astype("f2"), "V2": narrowed}[kind]
    proof = evidence(*map(change, (x, w, g)))
    for comparison in proof.compare(proof.results):
        assert comparison.usual[-1].exact and not comparison.suspicious
    for name, result in proof.results.items():
        moved = as_numbers(result).copy()
        moved.flat[0] = np.nextafter(moved.flat[0], moved.dtype.type(np.inf))
        if kind != "V2":
            (comparison,) = proof.compare({name: moved})
            assert comparison.suspicious and comparison.index == (0,) * moved.ndim, name


def test_integers_that_pass_what_float32_holds_may_be_rounded():
    """By hand: 4097 * 4099 = 2^24 + 16387, which is odd, and float32 holds only even numbers there."""
    proof = evidence(*(np.float32([[[n]]]) for n in (4097, 4099, 1)))
    (comparison,) = proof.compare({"output": np.float32([[[4097 * 4099]]])})
    assert comparison.got != comparison.due and not comparison.suspicious and not comparison.wrong


def test_integers_that_float16_holds_are_not_rounded_at_the_end_either():
    """By hand: 2 * 4 = 8; half a step of float16 beside it would be 2^-8."""
    proof = evidence(*(np.float16([[[n]]]) for n in (2, 4, 1)))
    (comparison,) = proof.compare({"output": np.float32([[[8 + 2**-10]]])})
    assert comparison.suspicious


def test_the_element_farthest_beyond_usual_rounding_is_shown():
    """By hand: sums 9 and 0 of the same |terms|; only where it is 9 does float16 round at the end."""
    x, w = np.full((1, 4, 1), 1.5, "f2"), np.float16([[1.5] * 4, [1.5, 1.5, -1.5, -1.5]])[..., None]
    u = 2.0**-11
    (comparison,) = evidence(x, w, np.ones((1, 2, 1), "f2")).compare(
        {"output": np.float32([[[9 * (1 + 0.9 * u)], [9 * 0.2 * u]]])}
    )
    assert (comparison.index, comparison.usual[-1].beyond) == ((0, 1, 0), 1)
    assert comparison.suspicious and comparison.fraction == pytest.approx(0.9 / 4, rel=0.01)


def test_a_result_of_lower_precision_than_its_inputs_may_have_rounded_them():
    """As under automatic mixed precision: float32 arrays, computed in float16."""
    for seed in range(5):
        proof = normal(seed, "f4", **LARGE)
        halves = proof.layer.map(lambda a: a.astype("f2"))
        assert not any(c.suspicious or c.wrong for c in proof.compare(halves.results()))


# ---------------------------------------------------------------- integers


def test_integers_must_be_equal():
    proof = evidence(X, W, G)
    right, wrong = np.array([[[21, 32]]], "u1"), np.array([[[21, 33]]], "u1")
    assert proof.compare({"output": right})[0].wrong == 0
    (comparison,) = proof.compare({"output": wrong})
    assert (comparison.format, comparison.wrong, comparison.index) == (None, 1, (0, 0, 1))
    assert (comparison.got, comparison.due) == (33, 32)


def test_integers_beyond_int64_are_not_taken_for_negative_ones():
    proof = evidence(np.array([[[-1]]]), np.array([[[1]]]), np.array([[[1]]]))
    assert proof.compare({"output": np.array([[[2**64 - 1]]], "u8")})[0].wrong == 1
    assert proof.compare({"output": np.array([[[-1]]], "i1")})[0].wrong == 0


def test_integers_may_be_brought_as_floats():
    proof = evidence(X * 2**20, W * 2**20, G)
    y = np.array([[[21, 32]]], "f4") * np.float32(2**40)
    assert proof.compare({"output": y})[0].fraction == 0
    assert proof.compare({"output": np.nextafter(y, np.float32(np.inf))})[0].wrong == 0
    assert proof.compare({"output": y * np.float32(1.001)})[0].wrong == 2


def test_an_empty_result_agrees():
    proof = evidence(np.ones((0, 2, 5)), np.ones((3, 2, 3)), np.ones((0, 3, 3)))
    (comparison,) = proof.compare({"output": np.ones((0, 3, 3))})
    assert (comparison.size, comparison.wrong) == (0, 0)
