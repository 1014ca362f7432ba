"""The command line: arguments in, an exit code out.

A command is one function here that registers its parser, and one that runs it.  The second imports
what it needs when it is called, so that no command loads another's modules.
"""

from __future__ import annotations

import argparse
import io
import itertools
import os
import re
import sys
import textwrap
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from npconv import __version__

if TYPE_CHECKING:
    from npconv.problem import Problem

PASS, DISAGREE, BAD_INPUT, READER_GONE = 0, 1, 2, 141  # 141: what a shell shows after SIGPIPE

WIDTH = 80
EXIT_CODES = "exit code: 0 all is well, 1 something disagrees, 2 bad input"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, all lessons where none is named, and return its exit code.

    >>> main(["--version"]) == PASS
    npconv 0.1.0
    True
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for names that the encoding lacks
    try:
        try:
            return _run(sys.argv[1:] if argv is None else argv)
        finally:
            _flush()
    except BrokenPipeError:  # as with `| head`: nobody is left to read, and nothing is wrong
        return READER_GONE
    except OSError as error:
        return _complain("npconv", f"the report cannot be printed: {error}")


def _run(argv: Sequence[str]) -> int:
    command = "npconv"
    try:
        _check_one_word_a_value(argv)
        arguments = _parser().parse_args(_attach_negative_padding(argv))
        command = f"npconv {arguments.command}" if arguments.command else command
        code: int = arguments.run(arguments)
        return code
    except SystemExit as finished:  # --help and --version
        return finished.code if isinstance(finished.code, int) else PASS
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return _complain(command, "interrupted")
    except MemoryError as error:
        return _complain(command, f"not enough memory: {error}")
    except _Misuse as error:
        return _complain(error.command, str(error))
    except (ValueError, TypeError, OverflowError, OSError) as error:
        return _complain(command, str(error))


def _complain(command: str, complaint: str) -> int:
    """One line, whatever names and line ends stand in it."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in complaint)
    print(f"{command}: {line}", file=sys.stderr)
    return BAD_INPUT


def _flush() -> None:
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        # What is still in the buffer would fail once more, with a traceback, when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


# ---------------------------------------------------------------- parsing


class _Misuse(ValueError):
    """A command line that cannot be understood."""

    def __init__(self, command: str, message: str) -> None:
        super().__init__(message)
        self.command = command


class _Parser(argparse.ArgumentParser):
    """A parser that leaves the complaint to `main`, so that it is one line."""

    def error(self, message: str) -> NoReturn:
        raise _Misuse(self.prog, f"{message}{'' if message.endswith('?') else ';'} see {self.prog} --help")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """What a command does not know is refused here: in its own name, not in that of `npconv`."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._meant(unknown)}")
        return known, unknown

    def _meant(self, unknown: list[str]) -> str:
        options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        near = [get_close_matches(option, self._option_string_actions, n=1) for option in options]
        return next((f"; did you mean {match[0]}?" for match in near if match), "")


Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="npconv",
        description="Reference convolutions and their gradients. Without a command: all lessons.",
        epilog=f"{EXIT_CODES}\n\nexample:\n  npconv grad layer.npz -o gradients.npz",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"npconv {__version__}")
    parser.set_defaults(run=_run_lessons, command=None, name=None, attempt=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for register in COMMANDS:
        register(commands)
    return parser


def _add(
    commands: Commands, name: str, help: str, description: str, example: str, notes: str = ""
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=help,
        description=textwrap.fill(description, WIDTH),
        epilog=f"{notes}{EXIT_CODES}\n\nexample:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _check_one_word_a_value(argv: Sequence[str]) -> None:
    """Refuse `--stride 2 3`, of which argparse would take the 3 for a file."""
    for start, option in enumerate(argv):
        if option in AXIS_OPTIONS:
            values = list(itertools.takewhile(AXIS_VALUE.fullmatch, argv[start + 1 :]))
            if len(values) > 1 and not os.path.exists(values[1]):
                given, due = " ".join(values), ",".join(values)
                command = " ".join(["npconv", *argv[: min(start, 1)]])
                raise _Misuse(command, f"{option} {given}: write {option} {due}")


AXIS_OPTIONS = ("--stride", "--padding", "--dilation", "--output-padding")
AXIS_VALUE = re.compile(r"-?\d+(:-?\d+)?")


def _attach_negative_padding(argv: Sequence[str]) -> list[str]:
    """`--padding -1,2` as `--padding=-1,2`: argparse would take -1,2 for an option."""
    attached: list[str] = []
    for word in argv:
        if attached and attached[-1] == "--padding" and re.match(r"-\d", word):
            attached[-1] += "=" + word
        else:
            attached.append(word)
    return attached


def _integers(text: str) -> int | tuple[int, ...]:
    """'2' or '2,1': one integer, or one an axis."""
    try:
        numbers = tuple(int(entry) for entry in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer, or one an axis as in 2,1") from None
    return numbers if "," in text else numbers[0]


def _padding(text: str) -> int | str | tuple[int | tuple[int, ...], ...]:
    """'1', '1,2' (one an axis), '1:2,0:1' (lo:hi an axis), or a name."""
    if text in ("same", "same_lower", "valid"):
        return text
    try:
        ends = tuple(tuple(int(end) for end in entry.split(":")) for entry in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an integer, one an axis as in 1,2, lo:hi an axis as in 1:2,0:1, "
            f"'same', 'same_lower' or 'valid'"
        ) from None
    entries = tuple(entry if len(entry) > 1 else entry[0] for entry in ends)
    return entries if "," in text or ":" in text else entries[0]


# ---------------------------------------------------------------- lesson


def _lesson(commands: Commands) -> None:
    parser = _add(
        commands,
        "lesson",
        help="show how a gradient comes about, step by step",
        description="Show step by step how a gradient comes about, and prove it. Without a NAME: all.",
        example="npconv lesson strided",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="one lesson; a name that is none lists them")
    parser.add_argument("--try", dest="attempt", metavar="FILE.py", help="grade your answer to the lesson's exercise")
    parser.set_defaults(run=_run_lessons)


def _run_lessons(arguments: argparse.Namespace) -> int:
    if arguments.attempt is not None:
        from npconv import exercise

        return exercise.attempt(arguments.name, arguments.attempt)
    from npconv.explain import lessons

    return lessons.run(arguments.name)


# ---------------------------------------------------------------- explain


def _explain(commands: Commands) -> None:
    parser = _add(
        commands,
        "explain",
        help="one of a convolution's maps, step by step, with every array",
        description=(
            "Show how npconv computes one map of a convolution: formula, steps, every array that was made, and "
            "the products behind one element. DESCRIPTOR names the convolution in one line."
        ),
        notes=GRAMMAR,
        example="npconv explain i5x5_k3_s2 --of input --element 2,2",
    )
    _convolution(parser)
    parser.add_argument(
        "--of", default="forward", metavar="MAP", help="forward (default), input, weight, transpose or double"
    )
    parser.add_argument("--element", type=_index, metavar="I,J", help="the element to take apart")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--html",
        metavar="FILE",
        help="write a page to play with: all first-order maps and all lessons, open at MAP and element",
    )
    kind.add_argument("--svg", metavar="FILE", help="write a picture of the map and the element")
    parser.add_argument("--animated", action="store_true", help="with --svg: the window slides, over and over")
    parser.set_defaults(run=_run_explain)


GRAMMAR = """\
DESCRIPTOR: these parts joined by _, as in
  N2C4O8G2_i6x7_k3_s2_p1:0x1_d1_bias   a convolution
  transposed_C2O3_i4_k3_s2_p1_op1      a transposed one; i is its own input

  N C O G   batch, input channels, output channels, groups; 1 if left out
  i k       sizes of input and weight, one an axis as in 6x7; one k for all axes
  s d       stride and dilation, one for all axes or as in 2x1; 1 if left out
  p         padding, lo:hi or one number for both, for all axes or as in 1:0x1;
            same, same-lower, valid; negative crops; 0 if left out
  op        output_padding of a transposed convolution; 0 if left out
  bias      with a bias
  reflect, replicate, circular   a border that is no zeros

"""


def _convolution(parser: argparse.ArgumentParser) -> None:
    """The convolution that a command is about: a descriptor, or flags."""
    parser.add_argument("descriptor", nargs="?", metavar="DESCRIPTOR", help="the convolution, in one line")
    flags = parser.add_argument_group("in place of DESCRIPTOR")
    flags.add_argument("--input", type=_index, metavar="N,C,H,W", help="the input's shape")
    flags.add_argument("--weight", type=_index, metavar="O,C,KH,KW", help="the weight's; transposed C,O,KH,KW")
    flags.add_argument("--stride", type=_integers, metavar="S", help="2, or one an axis: 2,1")
    flags.add_argument("--padding", type=_padding, metavar="P", help="1, 1,2, lo:hi an axis, same or valid")
    flags.add_argument("--dilation", type=_integers, metavar="D", help="2, or one an axis: 2,1")
    flags.add_argument("--groups", type=int, metavar="G")
    flags.add_argument("--output-padding", type=_integers, metavar="P", help="transposed only")
    flags.add_argument("--transposed", action="store_true", default=None, help="a transposed convolution")
    flags.add_argument("--bias", action="store_true", default=None, help="with a bias")


def _asked(arguments: argparse.Namespace) -> Problem:
    from npconv.explain import asked

    flags = {name: getattr(arguments, name) for name in ("input", "weight", *asked.PARAMETERS)}
    return asked.problem(arguments.descriptor, flags)


def _index(text: str) -> tuple[int, ...]:
    """'2,2': the index of an element."""
    numbers = _integers(text)
    return (numbers,) if isinstance(numbers, int) else numbers


def _run_explain(arguments: argparse.Namespace) -> int:
    from npconv.explain import page, svg, text

    if arguments.animated and arguments.svg is None:
        raise ValueError("animated: only a picture slides; give --svg FILE too")
    problem = _asked(arguments)
    if arguments.html is not None:
        return page.run(problem, arguments.html, arguments.of, arguments.element)
    if arguments.svg is not None:
        return svg.run(problem, arguments.of, arguments.element, arguments.svg, arguments.animated)
    return text.run(problem, arguments.of, arguments.element)


# ---------------------------------------------------------------- shape


def _shape(commands: Commands) -> None:
    parser = _add(
        commands,
        "shape",
        help="a convolution's sizes, and how other libraries write it",
        description=(
            "Show a convolution's sizes, its remainder, the inputs that no window reads, what each gradient pads "
            "and by how much, its phases, and the same convolution in other libraries' words."
        ),
        notes=GRAMMAR,
        example="npconv shape C3O8_i224x224_k7_s2_p3",
    )
    _convolution(parser)
    parser.set_defaults(run=_run_shape)


def _run_shape(arguments: argparse.Namespace) -> int:
    from npconv.explain import shape

    return shape.run(_asked(arguments))


# ---------------------------------------------------------------- grad


def _grad(commands: Commands) -> None:
    parser = _add(
        commands,
        "grad",
        help="the output and all gradients of your own arrays",
        description=(
            "Compute a convolution's output, grad_input, grad_weight and grad_bias, show the sizes and "
            "paddings, and check the results against each other: one number comes out three ways, on integers "
            "exactly, on floats up to rounding. FILE.npz holds input and weight and, where wanted, bias, "
            "grad_output (else ones), stride, padding, dilation, groups, transposed, output_padding and "
            "padding_mode. An output, grad_input, grad_weight or grad_bias that it holds is compared with "
            "the result, as a fraction of the worst rounding error that its dtype can explain; exit code 1 too "
            "where it is less than that, but more than rounding usually does (SUSPICIOUS)."
        ),
        example=(
            "npconv grad layer.npz -o gradients.npz\n"
            "  npconv grad --input x.npy --weight w.npy --stride 2 --padding 1:2,0:1"
        ),
    )
    parser.add_argument("file", nargs="?", metavar="FILE.npz", help="arrays and parameters by name")
    parser.add_argument(
        "-o",
        dest="destination",
        metavar="OUT.npz",
        help="write output, grad_input, grad_weight, grad_bias; into FILE.npz itself, also what flags replaced",
    )
    arrays = parser.add_argument_group("arrays, a .npy file each, in place of those of FILE.npz")
    arrays.add_argument("--input", metavar="X.npy", help="(N, C, *spatial), or without N")
    arrays.add_argument(
        "--weight", metavar="X.npy", help="(O, C/groups, *taps); transposed (C, O/groups, *taps)"
    )
    arrays.add_argument("--bias", metavar="X.npy", help="(O,)")
    arrays.add_argument(
        "--grad-output", metavar="X.npy", help="in the output's shape; ones where there is none"
    )
    arrays.add_argument("--output", metavar="X.npy", help="an output to compare")
    arrays.add_argument("--grad-input", metavar="X.npy", help="a gradient to compare")
    arrays.add_argument("--grad-weight", metavar="X.npy", help="a gradient to compare")
    arrays.add_argument("--grad-bias", metavar="X.npy", help="a gradient to compare")
    parameters = parser.add_argument_group("parameters, in place of those of FILE.npz")
    parameters.add_argument("--stride", type=_integers, metavar="S", help="2, or one an axis: 2,1")
    parameters.add_argument(
        "--padding",
        type=_padding,
        metavar="P",
        help="1, 1,2, lo:hi an axis: 1:2,0:1, same, same_lower or valid",
    )
    parameters.add_argument("--dilation", type=_integers, metavar="D", help="2, or one an axis: 2,1")
    parameters.add_argument("--groups", type=int, metavar="G")
    parameters.add_argument(
        "--output-padding", type=_integers, metavar="P", help="transposed only: 1, or one an axis: 1,0"
    )
    parameters.add_argument(
        "--transposed", action=argparse.BooleanOptionalAction, default=None, help="a transposed convolution"
    )
    parameters.add_argument(
        "--padding-mode", metavar="MODE", help="zeros, reflect, replicate or circular; not if transposed"
    )
    parser.set_defaults(run=_run_grad)


def _run_grad(arguments: argparse.Namespace) -> int:
    from npconv import job

    flags = {name: getattr(arguments, name) for name in job.NAMES}
    return job.run(arguments.file, arguments.destination, {k: v for k, v in flags.items() if v is not None})


# ---------------------------------------------------------------- check, emit, judge


def _check(commands: Commands) -> None:
    parser = _add(
        commands,
        "check",
        help="is this convolution kernel right, and if not, what is wrong with it",
        description=(
            "Judge a kernel: exact integers, index maps and derived bounds, no tolerance. CANDIDATE is FILE.py, "
            "FILE.py:NAME, module or module:NAME, and names a forward, or an object or module with any of "
            "forward, grad_input, grad_weight, grad_bias, backward, transposed. It runs in a process of its own."
        ),
        example="npconv check kernel.py:conv2d --input float16 --layout NHWC",
    )
    parser.add_argument("candidate", metavar="CANDIDATE", help="FILE.py:NAME or module:NAME")
    parser.add_argument("--only", metavar="DESCRIPTOR", help="one problem, as a report names it")
    for name in ("input", "accumulate", "output"):
        parser.add_argument(f"--{name}", metavar="FORMAT", help="float64, float32, tf32, float16, bfloat16, int8 ...")
    parser.add_argument("--layout", metavar="LETTERS", help="NCHW (default) or NHWC")
    parser.add_argument("--weight-layout", metavar="LETTERS", help="OIHW (default), OHWI or HWIO")
    parser.add_argument("--rank", type=int, default=2, metavar="N", help="spatial axes: 1, 2 (default) or 3")
    parser.add_argument("--no-layers", action="store_false", dest="layers", help="leave out real layers")
    parser.add_argument("--time-limit", type=float, default=10.0, metavar="SECONDS", help="for one call (10)")
    _views(parser)
    parser.set_defaults(run=_run_check)


def _views(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE", help="write the whole record; - prints it in place of the text")
    parser.add_argument("--junit", metavar="FILE", help="write a JUnit file; - prints it in place of the text")


def _run_check(arguments: argparse.Namespace) -> int:
    from npconv.testing import commands

    names = ("only", "rank", "layers", "time_limit", "input", "accumulate", "output", "layout", "weight_layout")
    options = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return commands.run_check(arguments.candidate, options, arguments.json, arguments.junit)


def _emit(commands: Commands) -> None:
    parser = _add(
        commands,
        "emit",
        help="write problems as files, for a kernel that no Python can call",
        description=(
            "Write problems into DIR: manifest.txt, which a C program can read, the arrays as .npy files, and all "
            "of them once more in problems.safetensors. Your program writes <number>.<part>.f32 or .npy beside."
        ),
        example="npconv emit problems forward grad_input",
    )
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("parts", nargs="*", metavar="PART", help="forward, grad_input, ... (default: all)")
    parser.set_defaults(run=_run_emit)


def _run_emit(arguments: argparse.Namespace) -> int:
    from npconv.testing import commands

    return commands.run_emit(arguments.folder, arguments.parts)


def _judge(commands: Commands) -> None:
    parser = _add(
        commands,
        "judge",
        help="judge the results that a program wrote beside the emitted problems",
        description="Read the results in DIR and report as check does.",
        example="npconv judge problems",
    )
    parser.add_argument("folder", metavar="DIR")
    _views(parser)
    parser.set_defaults(run=_run_judge)


def _run_judge(arguments: argparse.Namespace) -> int:
    from npconv.testing import commands

    return commands.run_judge(arguments.folder, arguments.json, arguments.junit)


# ---------------------------------------------------------------- bench


def _bench(commands: Commands) -> None:
    parser = _add(
        commands,
        "bench",
        help="how fast this machine convolves, beside its bare matrix product",
        description=(
            "Time the forward and both gradients of real layers in float32: milliseconds, GFLOP/s, times the "
            "time of the bare product of the same size, and the most memory taken beside arguments and result."
        ),
        example="npconv bench resnet50",
    )
    parser.add_argument(
        "what", nargs="?", metavar="LAYER", help="a part of a layer's name, or a DESCRIPTOR (default: all layers)"
    )
    parser.add_argument("--seconds", type=float, default=0.2, metavar="S", help="to spend on each case (0.2)")
    style = parser.add_mutually_exclusive_group()
    for name in ("csv", "json"):
        style.add_argument(f"--{name}", dest="style", action="store_const", const=name, help=f"print {name.upper()}")
    parser.set_defaults(run=_run_bench, style="text")


def _run_bench(arguments: argparse.Namespace) -> int:
    from npconv import bench

    return bench.run(arguments.what, arguments.style, arguments.seconds)


COMMANDS = (_lesson, _explain, _shape, _grad, _check, _emit, _judge, _bench)
