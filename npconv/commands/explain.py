"""`npconv explain`: one map of a convolution, step by step."""

from __future__ import annotations

import argparse

from npconv.commands.convolution import GRAMMAR, add_convolution, asked_for
from npconv.commands.parsing import Commands, add
from npconv.commands.values import index


def register(commands: Commands) -> None:
    """Add the parser of `npconv explain`."""
    parser = add(
        commands,
        "explain",
        help="one of a convolution's maps, step by step, with every array",
        description=(
            "Show how npconv computes one map of a convolution: formula, steps, every array that was "
            "made, and the products behind one element. DESCRIPTOR names the convolution in one line."
        ),
        notes=GRAMMAR,
        example="npconv explain i5x5_k3_s2 --of input --element 2,2",
    )
    add_convolution(parser)
    parser.add_argument(
        "--of", default="forward", metavar="MAP", help="forward (default), input, weight, transpose or double"
    )
    parser.add_argument("--element", type=index, metavar="I,J", help="the element to take apart")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--html",
        metavar="FILE",
        help="write a page to play with: all first-order maps and all lessons, open at MAP and element",
    )
    kind.add_argument("--svg", metavar="FILE", help="write a picture of the map and the element")
    parser.add_argument(
        "--animated", action="store_true", help="with --svg: the window slides, over and over"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show the map as text, as a page or as a picture."""
    from npconv.explain import page, svg, text

    if arguments.animated and arguments.svg is None:
        raise ValueError("animated: only a picture slides; give --svg FILE too")
    problem = asked_for(arguments)
    if arguments.html is not None:
        return page.run(problem, arguments.html, arguments.of, arguments.element)
    if arguments.svg is not None:
        return svg.run(problem, arguments.of, arguments.element, arguments.svg, arguments.animated)
    return text.run(problem, arguments.of, arguments.element)
