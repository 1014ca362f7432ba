"""The course: what each lesson says, draws, proves and asks, in the order in which one learns it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npconv.explain import claims, pages
from npconv.explain.proof import Proof, prove
from npconv.explain.scene import Scene


@dataclass(frozen=True)
class Lesson:
    """One lesson.

    problem: its descriptor.  says: its text; a formula stands in a line of its own.
    pages: what is drawn of it.  proofs: what it proves of it.
    exercise: what the student writes; `part` is the name of that function.
    """

    name: str
    title: str
    problem: str
    says: str
    pages: tuple[Callable[[Scene], list[str]], ...]
    part: str
    exercise: str
    proofs: Callable[[Scene], list[Proof]] = prove


COURSE = (
    Lesson(
        "simple",
        "the window slides, and the gradient slides back",
        "i4x4_k3",
        "Each output p is the sum of 9 products, of a 3x3 window and the weight:\n"
        "  output[p] = sum over q of input[p+q] * w[q]\n"
        "A gradient is that of one number. Let it be L, in which g says how much each output counts; g is "
        "called grad_output, and in a network it arrives from the layers behind:\n"
        "  L = sum over p of output[p] * g[p]\n"
        "Output p reads input m with the tap q = m-p (not at all where there is no such tap). So, by the "
        "chain rule over all outputs:\n"
        "  d output[p] / d input[m] = w[m-p]\n"
        "  grad_input[m] = dL / d input[m] = sum over p of g[p] * w[m-p]\n"
        "As p goes forward, m-p goes backward: the weight is flipped, and slides over g with zeros around "
        "it. For a tap nothing goes backward, so there is no flip:\n"
        "  grad_weight[q] = dL / d w[q] = sum over p of g[p] * input[p+q]",
        (pages.forward, pages.input_gradient, pages.weight_gradient),
        "forward",
        "Write forward(input, weight, bias, *, stride, padding, dilation, groups) for stride 1, no "
        "padding, no dilation and one group, with loops; refuse the rest with NotImplementedError.",
    ),
    Lesson(
        "flip",
        "what deep learning calls convolution is correlation",
        "i4_k3_p2",
        "Deep learning slides the weight as it is; mathematics flips it first. The flipped one is the "
        "one that multiplies: polynomials, and numbers written in digits. The input's gradient is the "
        "adjoint of the correlation, and the adjoint of the one is the other: that is the flip in it. Had "
        "the forward flipped, the gradient would not.",
        (pages.forward, pages.flipped),
        "forward",
        "Change your forward so that it flips, and see what the referee calls it. Then change it back.",
        claims.flip_multiplies,
    ),
    Lesson(
        "padded",
        "what is padded in the forward is left out in the gradient",
        "i4x4_k3_p1",
        "The forward puts lo = hi = 1 zeros around the input. The input's gradient pads grad_output by "
        "K-1-lo instead of K-1: the windows that lay wholly in the border would only have given the "
        "gradient of the border, which nobody asked for. The weight's gradient pads as the forward did.",
        (pages.forward, pages.input_gradient, pages.weight_gradient),
        "grad_input",
        "Write grad_input(grad_output, weight, input_size, *, stride, padding, dilation, groups) for "
        "stride 1 out of your forward: what do you pad by, and what do you flip?",
    ),
    Lesson(
        "strided",
        "zeros go in between and around",
        "i5x5_k3_s2",
        "With stride 2 the window skips every other place. The input's gradient is that of stride 1, in "
        "which the places skipped had gradient zero: so zeros go in between the elements of grad_output "
        "(as many as the stride minus one), then around it, and the flipped weight slides with stride "
        "1. In the weight's gradient the elements of grad_output must meet inputs that lie 2 apart: "
        "the stride has become a dilation.",
        (pages.forward, pages.input_gradient, pages.weight_gradient),
        "grad_input",
        "Let your grad_input take any stride. Try it on a 5x5 input and stride 2, then on 6x6.",
    ),
    Lesson(
        "remainder",
        "a row and a column that no window reaches",
        "i6x6_k3_s2",
        "A 6x6 input gives the same 2x2 output as a 5x5 one: the third window would not fit. What is "
        "left over is the remainder r = 1. The input's gradient pads grad_output with r more zeros at "
        "the end, so that it has 6 rows again; the weight's gradient crops r from the input's end. "
        "The same r, once as +r and once as -r.",
        (pages.unread, pages.input_gradient, pages.weight_gradient),
        "grad_input",
        "Why is input_size an argument of grad_input? Let yours use it: compute r from the two sizes.",
    ),
    Lesson(
        "dilated",
        "stride and dilation trade places in the weight's gradient",
        "i6x6_k2_s2_d3",
        "Output p and tap q meet at input s*p + d*q - lo. In the forward, p steps by the stride s = 2 and "
        "the taps lie d = 3 apart. In the weight's gradient it is the taps that are asked for, so they "
        "step, by 3, and the elements of grad_output lie 2 apart: stride 3, dilation 2. The input's "
        "gradient keeps the taps d = 3 apart.",
        (pages.forward, pages.weight_gradient, pages.input_gradient),
        "grad_weight",
        "Write grad_weight(grad_output, input, weight_size, *, stride, padding, dilation, groups) out of "
        "your forward: which of its parameters becomes which?",
    ),
    Lesson(
        "grouped",
        "each group is a convolution of its own",
        "C2O4G2_i3x3_k2",
        "Two groups: outputs 0 and 1 see only input channel 0, outputs 2 and 3 only channel 1. The "
        "input's gradient keeps the groups: inside each, the weight's two channel axes trade places. "
        "In the weight's gradient each group's channels become the batch, and the groups stand side by "
        "side as channels.",
        (pages.forward, pages.input_gradient, pages.weight_gradient),
        "grad_weight",
        "Let your forward take groups; then grad_input and grad_weight. Which axis do you split first?",
    ),
    Lesson(
        "bias",
        "one number added everywhere hears from everywhere",
        "N2O2_i3x3_k2_bias",
        "A channel's bias is added to every sample and every position of that channel. Change it by one "
        "and all those outputs change by one: its gradient is the sum of grad_output over samples and "
        "positions, never over channels.",
        (pages.forward, pages.bias),
        "grad_bias",
        "Write grad_bias(grad_output). Over which axes do you sum, and which one stays?",
    ),
    Lesson(
        "transposed",
        "the input's gradient, read forwards",
        "transposed_i3x3_k3_s2_p1_op1",
        "A transposed convolution spreads its input out by the stride and slides the flipped weight "
        "over it: it is the input's gradient of a convolution, used as a forward. A strided convolution "
        "makes the same output of several input sizes, so the way back must be told which one: "
        "output_padding is the remainder r of that convolution. Its cells are computed like all others. "
        "And its own input's gradient is the convolution.",
        (pages.output_paddings, pages.forward, pages.input_gradient, pages.weight_gradient),
        "transposed",
        "Write transposed(input, weight, bias, *, stride, padding, output_padding, dilation, groups) out "
        "of your grad_input.",
    ),
    Lesson(
        "weight",
        "the weight's gradient has channels for samples",
        "N2C2O2_i3x3_k2",
        "A tap w[o, c, q] is used in every sample, and joins channel c to channel o. So its gradient sums "
        "over samples, which the forward never does, and not over channels, over which the forward "
        "does. Let batch and channels trade places, in the input and in grad_output: what the forward "
        "sums over is then the batch. At the end the two trade back.",
        (pages.weight_gradient,),
        "grad_weight",
        "Give your grad_weight two samples and two channels. Which axes did you have to swap?",
    ),
    Lesson(
        "triangle",
        "three maps, closed under derivatives",
        "C2O2_i4_k2_s2",
        "One number, T(x, w, g) = sum of x[s*p + d*q - lo] * w[q] * g[p], is linear in each of its three "
        "arrays. Its derivatives by g, by x and by w are the forward, the input's gradient and the "
        "weight's. Take the derivative of any of these three, and T loses another array: what is left is "
        "again one of the three. So derivatives of every order need nothing new.",
        (pages.triangle,),
        "backward",
        "Write backward(grad_output, input, weight, *, stride, padding, dilation, groups), which returns "
        "all three gradients. Check yours with T: three ways to one number.",
        claims.triangle_is_closed,
    ),
    Lesson(
        "second",
        "the second derivative, term by term",
        "i4_k2_s2",
        "A backward pass takes grad_output, input and weight, and gives two gradients. Let u arrive at "
        "the first and v at the second. By grad_output: F(u, w) + F(x, v), two forwards. By the input: "
        "X(v, g). By the weight: W(u, g). There is no term with x and x, or w and w: T has each only once.",
        (pages.second_order,),
        "backward",
        "Each of the four terms is one of the three maps with other arguments, so it is right where they "
        "are. Put forward and backward into one file, and let the referee try both.",
        claims.second_order_is_the_difference,
    ),
    Lesson(
        "numbers",
        "why exact integers, and why a bound",
        "C4_i6_k3",
        "Integers below 2^24 are exact in float32, and so are their sums as long as these stay below: "
        "any order of adding gives the same bits, so two kernels can be compared by equality. Fractions "
        "round, and each order rounds differently. How far a sum of n products can be off, whatever the "
        "order, is n*u / (1 - n*u) times the sum of their absolute values, with u = 2^-24: a bound, no "
        "tolerance that one tunes until the test passes.",
        (pages.numbers,),
        "forward",
        "Sum your forward in another order, in float32, and see that the referee does not mind.",
        claims.rounding_keeps_to_its_bound,
    ),
)
LESSONS = {lesson.name: lesson for lesson in COURSE}
