"""The page in a real browser: it loads, steps, lights up the right cells, and can be used by everybody.

Needs chromium and chromedriver.  Without them these tests are skipped on a person's machine, and
fail where the environment says CI.
"""

from __future__ import annotations

import os

import browser as browsers
import numpy as np
import pytest
from problems import expected, random_problem

from npconv.explain import page, svg
from npconv.explain.lessons import NAMES
from npconv.explain.scene import Scene
from npconv.problem import Problem

pytestmark = pytest.mark.skipif(
    browsers.found() is None and not os.environ.get("CI"),
    reason="chromium and chromedriver are not installed (Debian: apt install chromium chromium-driver)",
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page.page(Problem.parse("C2O2_i4x5_k3_s2_p1_bias")), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def chromium():
    assert browsers.found() is not None, "chromium and chromedriver must be installed where CI is set"
    session = browsers.Browser()
    yield session
    session.close()


@pytest.fixture
def opened(chromium, file):
    """The page, fresh, on a wide screen in light colours; whatever it complains of fails the test."""
    chromium.resize(1280, 900)
    chromium.media(prefers_color_scheme="light", prefers_reduced_motion="no-preference")
    chromium.open(file)
    yield chromium
    assert chromium.errors() == []


def lit(chromium, kind):
    return sorted(chromium.run(f"return [...document.querySelectorAll('td.{kind}')].map((td) => td.id)"))


def stages(chromium):
    return chromium.run(
        "const {state, data} = npconv; return data.problems[state.problem].maps[state.map].stages.length"
    )


def show(chromium, file, place):
    chromium.open(file, place)
    return stages(chromium) - 1


@pytest.mark.parametrize("name", ["yours", *NAMES])
def test_every_map_of_every_problem_is_drawn_without_a_complaint(opened, file, name):
    (maps,) = opened.run(
        "return npconv.data.problems.filter((p) => p.name === arguments[0]).map((p) => p.maps)", name
    )
    assert len(maps) >= 3
    for shown in maps:
        opened.open(file, f"#{name}/{shown['of']}")
        assert (
            opened.run("return document.querySelector('#maps [aria-pressed=true]').textContent")
            == shown["title"]
        )
        cells = sum(len(stage["values"]) for stage in shown["stages"])
        assert opened.run("return document.querySelectorAll('td').length") == cells
        assert ": equal" in opened.run("return document.getElementById('identity').textContent")


def test_hovering_a_result_lights_up_what_it_is_made_of_and_writes_the_products(opened, file):
    last = show(opened, file, "#strided/input")
    opened.hover(f"#cell-{last}-12")
    # grad_input[2,2] hears from all four outputs; in the padded array they stand at (2,2) (2,4) (4,2) (4,4).
    assert [cell for cell in lit(opened, "feeds") if cell.startswith("cell-4-")] == [
        "cell-4-16", "cell-4-18", "cell-4-30", "cell-4-32",
    ]  # fmt: skip
    assert len(lit(opened, "window")) == 9
    assert opened.run("return document.getElementById('products').textContent") == (
        "dx22 = g00·w22 + g01·w20 + g10·w02 + g11·w00 = 1·9 + 2·7 + 3·3 + 4·1 = 36, and 5 with a zero that was put in"
    )


def test_hovering_a_given_cell_lights_up_where_it_goes(opened, file):
    last = show(opened, file, "#strided/weight")
    opened.hover("#cell-0-0")
    assert lit(opened, "goes") == [f"cell-{last}-0"]  # x[0,0] meets only the first tap of the first window
    assert opened.run("return document.getElementById('products').textContent") == (
        "x00 = 1 goes into 1 product of grad_weight: dw00 (with g00 = 1)."
    )


def test_an_input_that_no_window_reads_is_struck_and_says_so(opened, file):
    show(opened, file, "#remainder/forward")
    opened.hover("#cell-0-35")
    assert "goes into no cell of output: no window reads it" in opened.run(
        "return document.getElementById('products').textContent"
    )
    struck = [cell for cell in lit(opened, "unread") if cell.startswith("cell-0-")]
    assert struck == sorted(
        f"cell-0-{6 * row + column}" for row in range(6) for column in range(6) if 5 in (row, column)
    )


def cells(shape, found):
    return sorted(int(np.ravel_multi_index(cell, shape)) for cell in found)


def test_the_pages_own_links_on_200_problems_are_those_of_the_index_formula(opened):
    script = """
    const shown = npconv.prepare(arguments[0]), last = shown.stages.length - 1;
    const sorted = (set) => [...set].sort((a, b) => a - b);
    const givens = [...shown.stages.keys()].filter((n) => !shown.stages[n].parents.length);
    return {
      feeds: shown.stages[last].values.map((_, cell) => givens.map((n) => sorted(npconv.feeding(shown, last, cell)[n]))),
      goes: givens.map((n) => shown.stages[n].values.map((_, cell) => sorted(npconv.fed(shown, n, cell)[last]))),
    };"""
    shapes = {
        "forward": ("output_shape", "input_shape", "weight_shape"),
        "input": ("input_shape", "output_shape", "weight_shape"),
        "weight": ("weight_shape", "input_shape", "output_shape"),
    }
    for seed in range(200):
        problem, of = random_problem(seed), list(shapes)[seed % 3]
        (figure,) = Scene.of(problem).figures(of)
        shown = page.map_data(of, figure)
        linked = opened.run(script, shown)
        names = [stage["caption"].split(" = ")[0] for stage in shown["stages"] if not stage["parents"]]
        order = [names.index(figure.under), names.index(figure.window)]
        result, *given = (getattr(problem.geometry, name) for name in shapes[of])
        due = expected(problem.geometry, figure.map)
        for number, side in enumerate(order):
            feeds = [
                cells(given[number], {pair[number] for pair in due.get(at, ())}) for at in np.ndindex(*result)
            ]
            assert [each[side] for each in linked["feeds"]] == feeds, (problem, of)
            goes = [
                cells(result, [at for at, pairs in due.items() if cell in {pair[number] for pair in pairs}])
                for cell in np.ndindex(*given[number])
            ]
            assert linked["goes"][side] == goes, (problem, of)


def visible(chromium):
    return chromium.run(
        "return [...document.querySelectorAll('.stage')].filter((s) => !s.hidden).map((s) => s.querySelector('h3').textContent)"
    )


def test_the_steps_go_forward_and_back_through_every_array(opened, file):
    show(opened, file, "#strided/input")
    opened.click("#first")
    assert visible(opened) == ["grad_output", "weight"]
    seen = []
    while not opened.run("return document.getElementById('forth').disabled"):
        opened.click("#forth")
        seen.append(visible(opened))
    assert seen[0] == ["grad_output", "weight", "flipped = B"]
    assert seen[-1] == [
        "grad_output", "zeros between", "zeros around = A", "weight", "flipped = B", "B slides over A = grad_input",
    ]  # fmt: skip
    opened.click("#back")
    assert visible(opened) == seen[-2]


def test_the_window_slides_and_what_it_has_not_reached_is_unknown(opened, file):
    last = show(opened, file, "#simple/forward")
    opened.click("#first")
    opened.click("#forth")
    waiting = "return [...document.querySelectorAll('td.waiting')].length"
    assert opened.run(waiting) == 3
    opened.run(
        "const s = document.getElementById('slider'); s.value = '2'; s.dispatchEvent(new Event('input'))"
    )
    assert opened.run(waiting) == 1
    assert lit(opened, "chosen") == [f"cell-{last}-2"]
    assert [cell for cell in lit(opened, "window")] == sorted(
        f"cell-0-{4 * r + c}" for r in (1, 2, 3) for c in (0, 1, 2)
    )


def test_play_runs_to_the_end_and_pause_holds(opened, file):
    show(opened, file, "#simple/forward")
    opened.click("#run")
    assert opened.run("return document.getElementById('run').textContent") == "Pause"
    opened.wait("return npconv.state.window >= 1")
    opened.click("#run")
    held = opened.run("return npconv.state.window")
    assert opened.run("return document.getElementById('run').textContent") == "Play"
    opened.click("#run")
    opened.wait("return !npconv.state.timer")
    assert opened.run("return npconv.state.window") == 3 > held


def test_symbols_take_the_place_of_numbers(opened, file):
    show(opened, file, "#strided/input")
    opened.click("#symbols")
    assert opened.run("return document.getElementById('cell-1-1').textContent") == "g01"
    opened.click("#symbols")
    assert opened.run("return document.getElementById('cell-1-1').textContent") == "2"


def test_a_question_leads_to_its_place_and_its_answer(opened):
    for number, question in enumerate(page.QUESTIONS, start=1):
        opened.click(f"#questions button:nth-child({number})")
        assert opened.run("return document.getElementById('answer').textContent").endswith(question.answer)
        name, of, _, cell = question.place.lstrip("#").split("/")
        assert lit(opened, "chosen") == [f"cell-{stages(opened) - 1}-{cell}"]
        assert opened.run("return location.hash") == f"#{name}/{of}"


def test_a_page_with_a_choice_opens_at_it_and_a_link_into_it_goes_first(opened, tmp_path):
    chosen = tmp_path / "chosen.html"
    problem = Problem.parse("C2O3_i4x5_k3_s2_p1")
    start = page.place(problem, "weight", (2, 1, 0, 2))
    chosen.write_text(page.page(problem, start), encoding="utf-8")
    opened.open(chosen)
    pressed = "return document.querySelector('#maps [aria-pressed=true]').textContent"
    assert opened.run(pressed) == "Gradient by the weight"
    assert lit(opened, "chosen") == [f"cell-{stages(opened) - 1}-{(2 * 2 + 1) * 9 + 2}"]
    assert opened.run("return document.getElementById('products').textContent").startswith("dw2102 = ")
    opened.open(chosen, "#simple/input")
    assert opened.run("return location.hash") == "#simple/input"
    assert opened.run("return npconv.state.chosen") is None


LEFT, RIGHT, DOWN, TAB = "\ue012", "\ue014", "\ue015", "\ue004"


def test_the_keyboard_reaches_every_array_and_moves_inside(opened, file):
    last = show(opened, file, "#strided/input")
    opened.run("document.getElementById('cell-0-0').focus()")
    opened.press(RIGHT, DOWN)
    focused = "return document.activeElement.id"
    assert opened.run(focused) == "cell-0-4"
    assert opened.run("return document.getElementById('products').textContent").startswith(
        "w11 = 5 goes into"
    )
    reached = set()
    opened.run("document.getElementById('arrays').focus()")
    for _ in range(last + 1):
        opened.press(TAB)
        reached.add(opened.run(focused).split("-")[1])
    assert reached == {str(number) for number in range(last + 1)}


def test_the_arrow_keys_and_space_step_and_play_outside_the_arrays(opened, file):
    show(opened, file, "#strided/input")
    opened.run("document.activeElement.blur()")
    opened.press(LEFT)
    assert opened.run("return npconv.state.step") == 3
    opened.press(RIGHT)
    assert opened.run("return npconv.state.step") == 4
    opened.press(" ")
    assert opened.run("return Boolean(npconv.state.timer)")
    opened.press(" ")
    assert not opened.run("return Boolean(npconv.state.timer)")


def test_the_focus_follows_the_order_of_reading(opened):
    assert opened.run("return [...document.querySelectorAll('[tabindex]')].every((e) => e.tabIndex <= 0)")
    order = opened.run(
        "return [...document.querySelectorAll('a[href], select, button, input, summary, td[tabindex=\"0\"]')].map("
        "(e) => e.closest('section, details, header, footer')?.className || e.className)"
    )
    seen = list(dict.fromkeys(order))
    assert seen == ["skip", "choose", "play", "arrays", "about", "questions"]


NAMELESS = """
const name = (e) => e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels[0] && e.labels[0].textContent.trim());
return [...document.querySelectorAll('button, select, input, a[href], summary, [role=grid], [role=gridcell], section')]
  .filter((e) => !name(e)).map((e) => e.outerHTML);"""


def test_everything_to_use_has_a_name_and_a_role(opened, file):
    for place in ("#strided/input", "#grouped/weight", "#yours/forward"):
        opened.open(file, place)
        assert opened.run(NAMELESS) == []
        roles = (
            "return [...document.querySelectorAll('table')].every((t) => t.getAttribute('role') === 'grid')"
        )
        assert opened.run(roles)
    assert opened.run("return document.documentElement.lang") == "en"
    assert opened.run("return document.querySelectorAll('h1').length") == 1


CONTRAST = """
const parts = (color) => color.match(/[\\d.]+/g).map(Number);
const over = (top, below) => { const a = top[3] ?? 1; return [0, 1, 2].map((n) => a * top[n] + (1 - a) * below[n]); };
const back = (e) => !e ? [255, 255, 255] : over(parts(getComputedStyle(e).backgroundColor), back(e.parentElement));
const light = (c) => { const [r, g, b] = c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
return [...document.body.querySelectorAll('*')]
  .filter((e) => own(e) && e.offsetParent !== null && !e.disabled && !e.classList.contains('waiting') && e.tagName !== 'SCRIPT')
  .map((e) => { const b = back(e); return [ratio(over(parts(getComputedStyle(e).color), b), b), e.outerHTML.slice(0, 120)]; })
  .filter(([r]) => r < 4.5);"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_its_background(opened, file, scheme):
    opened.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    for place in ("#strided/input", "#remainder/forward", "#yours/forward"):
        opened.open(file, place)
        assert opened.run(CONTRAST) == []


def test_dark_follows_the_system_and_the_button(opened, file):
    background = "return getComputedStyle(document.body).backgroundColor"
    assert opened.run(background) == "rgb(255, 255, 255)"
    opened.media(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    assert opened.run(background) == "rgb(20, 23, 27)"
    opened.click("#theme")
    assert opened.run(background) == "rgb(255, 255, 255)"


def test_nothing_moves_by_itself_where_less_motion_is_wanted(opened, file):
    duration = "return getComputedStyle(document.querySelector('td')).transitionDuration"
    assert opened.run(duration).startswith("0.12s")
    opened.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")
    assert set(opened.run(duration).split(", ")) == {"0s"}


@pytest.mark.parametrize("width", [320, 380, 768, 1280, 1920])
def test_no_screen_is_too_narrow(opened, file, width):
    for place in ("#strided/input", "#grouped/input", "#padded/weight"):
        opened.resize(width, 800)
        opened.open(file, place)
        assert opened.run("return document.documentElement.scrollWidth") <= width


def test_an_animated_picture_shows_one_frame_and_stands_still_where_less_motion_is_wanted(opened, tmp_path):
    drawn = tmp_path / "sliding.svg"
    drawn.write_text(
        svg.animation(Scene.of(Problem.parse("i4x4_k3")).figures("forward")[0]), encoding="utf-8"
    )
    shown = """return [...document.querySelectorAll('.frame')].filter((f) => getComputedStyle(f).opacity === '1').length"""
    moving = "return getComputedStyle(document.querySelector('.frame')).animationName"
    opened.open(drawn)
    assert opened.run(shown) == 1 and opened.run(moving) == "f0"
    opened.media(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    assert opened.run(shown) == 1 and opened.run(moving) == "none"


def test_the_page_asks_nothing_of_the_network(opened):
    assert (
        opened.run(
            "return performance.getEntriesByType('resource').filter((e) => !e.name.startsWith('data:')).length"
        )
        == 0
    )
