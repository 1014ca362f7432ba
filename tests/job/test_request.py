"""What a file and flags come to, and which of them is wrong."""

import ml_dtypes
import numpy as np
import pytest

from npconv.job.request import read, request
from npconv.record import recording

X, W = np.ones((1, 4, 6, 7), np.float32), np.ones((2, 4, 3, 3), np.float32)
PLAIN = dict(input=X, weight=W)


def saved(tmp_path, **arrays):
    path = tmp_path / "layer.npz"
    np.savez(path, **arrays)
    return str(path)


def npy(tmp_path, name, array):
    np.save(tmp_path / f"{name}.npy", array)
    return str(tmp_path / f"{name}.npy")


# ---------------------------------------------------------------- reading


def test_parameters_come_in_every_form_in_which_numpy_saves_them(tmp_path):
    file = saved(
        tmp_path, **PLAIN, stride=np.array([2, 1]), padding=np.array([[1, 0], [2, 2]]), dilation=2,
        groups=np.array([1]), padding_mode="reflect", transposed=False, output_padding=0,
    )  # fmt: skip
    layer = read(file, {}).layer
    assert (layer.geometry.stride, layer.geometry.padding) == ((2, 1), ((1, 0), (2, 2)))
    assert (layer.geometry.dilation, layer.geometry.G, layer.transposed) == ((2, 2), 1, False)
    assert layer.parameters["padding_mode"] == "reflect"


def test_padding_may_be_a_word(tmp_path):
    file = saved(tmp_path, **PLAIN, padding="same", stride=2)
    assert read(file, {}).layer.geometry.padding == ((0, 1), (1, 1))


def test_the_rank_comes_from_the_arrays(tmp_path):
    for rank in (1, 2, 3):
        file = saved(tmp_path, input=np.ones((1, 2, *[4] * rank)), weight=np.ones((3, 2, *[2] * rank)))
        assert read(file, {}).layer.rank == rank


def test_a_flag_goes_before_the_file(tmp_path):
    file = saved(tmp_path, **PLAIN, stride=2, groups=1)
    flags = dict(stride=(1, 3), weight=npy(tmp_path, "w", np.full((4, 1, 2, 2), 7.0)), groups=4)
    layer = read(file, flags).layer
    assert (layer.geometry.stride, layer.geometry.G) == ((1, 3), 4)
    assert layer.weight.shape == (4, 1, 2, 2) and layer.input.dtype == np.float32


def test_separate_files_need_no_npz(tmp_path):
    flags = {name: npy(tmp_path, name, array) for name, array in PLAIN.items()}
    assert read(None, flags).layer.output().shape == (1, 2, 4, 5)


def test_what_a_flag_replaces_is_not_read_and_it_is_said(tmp_path):
    pickled = np.array([None], object)
    file = saved(tmp_path, input=X, weight=pickled, stride=pickled, grad_output=np.ones((1, 2, 4, 5)))
    found = read(file, dict(weight=npy(tmp_path, "w", W), stride=1))
    assert found.layer.weight.shape == W.shape
    assert (found.notes, found.unused) == ((), ("weight", "stride"))


def test_results_in_the_file_are_kept_for_comparison(tmp_path):
    due = dict(output=np.ones((1, 2, 4, 5)), grad_weight=np.ones(W.shape), grad_bias=np.ones(2))
    found = read(saved(tmp_path, **PLAIN, **due), dict(output=npy(tmp_path, "y", np.zeros((1, 2, 4, 5)))))
    assert sorted(found.expected) == sorted(due)
    assert not found.expected["output"].any() and found.expected["grad_bias"].all()


# ---------------------------------------------------------------- remarks


def test_ones_stand_in_for_grad_output_and_it_is_said(tmp_path):
    found = read(saved(tmp_path, **PLAIN), {})
    assert found.layer.grad_output.dtype == np.float32 and found.layer.grad_output.all()
    assert any("grad_output: none is given, so it is ones" in note for note in found.notes)
    given = read(saved(tmp_path, **PLAIN, grad_output=np.zeros((1, 2, 4, 5))), {})
    assert not given.layer.grad_output.any() and given.notes == ()


@pytest.mark.parametrize(
    "kinds",
    ["f2 f2 f2", "f2 f4 f4", "i1 u1 i8", "c8 f4 c8", "V2 V2 V2", "V2 f2 f4", "V2 i1 V2"],
)
def test_ones_have_the_kind_of_the_output(kinds):
    x, w, ones = kinds.split()

    def one(kind, shape):
        return np.ones(shape, ml_dtypes.bfloat16).view("V2") if kind == "V2" else np.ones(shape, kind)

    layer = request({"input": one(x, (1, 1, 3)), "weight": one(w, (1, 1, 2))}, {}).layer
    assert layer.grad_output.dtype == np.dtype(ones)
    assert layer.output().dtype == np.dtype(ones)


def test_what_is_not_used_is_named(tmp_path):
    found = read(saved(tmp_path, **PLAIN, grad_output=np.ones((1, 2, 4, 5)), momentum=2, lr=0.1), {})
    assert (found.notes, found.unused) == ((), ("momentum", "lr"))


MISSPELT = {
    "strides": "stride", "Stride": "stride", "pading": "padding", "Padding": "padding", "bais": "bias",
    "dilations": "dilation", "group": "groups", "grad_out": "grad_output", "grad-output": "grad_output",
    "outputs": "output", "transpose": "transposed", "padding mode": "padding_mode",
    "gradWeight": "grad_weight",
}  # fmt: skip


@pytest.mark.parametrize("name, meant", MISSPELT.items())
def test_a_misspelt_name_is_refused_with_both_names(tmp_path, name, meant):
    with pytest.raises(ValueError, match=f"it holds {name!r}; did you mean {meant!r}[?] Rename"):
        read(saved(tmp_path, **PLAIN, **{name: 1}), {})


def test_a_misspelt_array_is_named_before_the_missing_one(tmp_path):
    with pytest.raises(ValueError, match="it holds 'Weight'; did you mean 'weight'"):
        read(saved(tmp_path, input=X, Weight=W), {})


def test_a_name_like_one_that_is_given_is_only_unused(tmp_path):
    assert read(saved(tmp_path, **PLAIN, stride=1, strides=2, height=6), {}).unused == ("strides", "height")
    assert read(saved(tmp_path, **PLAIN, strides=2), dict(stride=1)).unused == ("strides",)


def test_other_names_than_ours_are_no_misspelling(tmp_path):
    names = ["lr", "name", "epoch", "mean", "running_var", "x", "arr_0", "kernel_size", "in_channels"]
    assert read(saved(tmp_path, **PLAIN, **dict.fromkeys(names, 1)), {}).unused == tuple(names)


def test_where_the_input_is_missing_what_the_file_holds_is_said(tmp_path):
    with pytest.raises(ValueError, match="input: there is none in .*.npz, it holds 'x', 'w'; save it by"):
        read(saved(tmp_path, x=X, w=W), {})
    with pytest.raises(ValueError, match="weight: there is none in .*it holds 'input', 'arr_0'; save it"):
        read(saved(tmp_path, input=X, arr_0=W), {})
    with pytest.raises(ValueError, match="input: there is none in .*, it is empty; save it"):
        read(saved(tmp_path), {})


@pytest.mark.parametrize(
    "value, array",
    [
        (2, 2),
        ((2, 1), [2, 1]),
        (((1, 2), (0, 3)), [[1, 2], [0, 3]]),
        ((1, (0, 2)), [[1, 1], [0, 2]]),
        ("same", "same"),
        (True, True),
    ],
)
def test_parameters_of_flags_become_arrays_that_say_the_same(tmp_path, value, array):
    name = {str: "padding", bool: "transposed"}.get(type(value), "padding")
    w = W if name == "padding" else np.ones((4, 2, 3, 3))
    found = read(saved(tmp_path, input=X, weight=w), {name: value})
    assert found.replaced[name].tolist() == array
    again = read(saved(tmp_path, input=X, weight=w, **found.replaced), {}).layer
    assert again.geometry == found.layer.geometry


def test_bfloat16_is_named(tmp_path):
    arrays = {name: array.astype(ml_dtypes.bfloat16) for name, array in PLAIN.items()}
    assert any("read as bfloat16" in note for note in read(saved(tmp_path, **arrays), {}).notes)


# ---------------------------------------------------------------- refusals

WRONG = {
    "no weight": (dict(weight=None), ValueError, "weight: there is none in .*--weight"),
    "text": (dict(input=np.array(["a"])), TypeError, "input: its dtype is <U1; it must hold integers"),
    "dates": (dict(bias=np.ones(2, "M8[s]")), TypeError, "bias: its dtype is datetime64"),
    "raw bytes": (dict(output=np.ones(2, "V4")), TypeError, r"output: its dtype is \|V4"),
    "channels": (dict(weight=np.ones((2, 3, 3, 3))), ValueError, "weight: its axis 1 has 3 channels"),
    "bias": (dict(bias=np.ones(3)), ValueError, r"bias: its shape is \(3,\), but .*\(2,\)"),
    "grad_output": (dict(grad_output=np.ones((1, 2, 4, 4))), ValueError, r"grad_output: .*\(1, 2, 4, 5\)"),
    "output": (dict(output=np.ones((2, 4, 5))), ValueError, r"output: its shape .*\(1, 2, 4, 5\)"),
    "grad_input": (dict(grad_input=W), ValueError, r"grad_input: its shape .*\(1, 4, 6, 7\)"),
    "grad_weight": (dict(grad_weight=X), ValueError, r"grad_weight: its shape .*\(2, 4, 3, 3\)"),
    "grad_bias": (dict(grad_bias=np.ones(4)), ValueError, r"grad_bias: its shape .*\(2,\)"),
    "stride is a float": (dict(stride=np.array(2.0)), TypeError, "stride: it is 2.0, a float; it must be"),
    "stride is text": (dict(stride="two"), TypeError, "stride: it is 'two', a str"),
    "stride is a bool": (dict(stride=True), TypeError, "stride: it is True, a bool"),
    "stride is zero": (dict(stride=0), ValueError, "stride: it is 0, but it must be 1 or more"),
    "strides": (dict(stride=np.array([1, 2, 3])), ValueError, "stride: 3 values for 2 spatial axes"),
    "padding is nan": (dict(padding=np.nan), TypeError, "padding: it is nan, a float"),
    "padding is nested": (dict(padding=np.ones((2, 2, 2), int)), TypeError, "padding of spatial axis 0"),
    "padding is a word": (dict(padding="full"), ValueError, "padding: 'full' is not one of 'valid', 'same'"),
    "groups": (dict(groups=3), ValueError, "groups: 3 must divide"),
    "two groups": (dict(groups=np.array([1, 1])), TypeError, "groups: it is "),
    "transposed": (dict(transposed=2), TypeError, "transposed: it is 2; it must be true or false"),
    "transposed is a float": (dict(transposed=1.0), TypeError, "transposed: it is 1.0; it must be"),
    "transposed is text": (dict(transposed="yes"), TypeError, "transposed: it is 'yes'"),
    "output_padding": (dict(output_padding=1), ValueError, "output_padding: it is 1, but only a .*--transp"),
    "padding_mode": (dict(padding_mode="mirror"), ValueError, "padding_mode: 'mirror' is not one of"),
    "padding_mode is a number": (dict(padding_mode=3), (TypeError, ValueError), "padding_mode: (it is )?3"),
    "transposed padding_mode": (
        dict(transposed=True, weight=np.ones((4, 2, 3, 3)), padding_mode="reflect"),
        ValueError,
        "padding_mode: it is 'reflect', but a transposed convolution has only 'zeros'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("change, error, message", WRONG.values(), ids=WRONG)
def test_wrong_input_is_named_before_any_work(tmp_path, change, error, message):
    arrays = {name: array for name, array in {**PLAIN, **change}.items() if array is not None}
    with recording() as steps, pytest.raises(error, match=message):
        read(saved(tmp_path, **arrays), {})
    assert steps == []


def test_an_output_of_the_transposed_convolution_is_recognised(tmp_path):
    x, w, y = np.ones((1, 2, 3)), np.ones((2, 2, 2)), np.ones((1, 2, 6))
    with pytest.raises(ValueError, match="the transposed convolution's would be so: give --transposed"):
        read(saved(tmp_path, input=x, weight=w, output=y, stride=2), {})
    assert read(
        saved(tmp_path, input=x, weight=w, output=y, stride=2), dict(transposed=True)
    ).layer.transposed


def test_flags_are_checked_as_the_file_is(tmp_path):
    with pytest.raises(ValueError, match="groups: 3 must divide"):
        read(saved(tmp_path, **PLAIN), dict(groups=3))
