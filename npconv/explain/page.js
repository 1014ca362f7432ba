"use strict";
// What is shown here was recorded by npconv. Nothing is convolved: cells are looked up in the lists of
// sources, and the products written out are those whose sum was recorded.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const state = { problem: 0, map: 0, step: 0, window: 0, symbols: false, chosen: null, timer: null };
  const map = () => data.problems[state.problem].maps[state.map];

  // ------------------------------------------------------------ who feeds whom

  function prepare(shown) {
    shown.stages.forEach((stage) => { stage.zeros = new Set(stage.put_in); stage.used = new Set(); });
    const slide = shown.stages[shown.slide];
    slide.values.forEach((_, cell) => pairs(shown, cell).filter((pair) => isReal(shown, pair)).forEach((pair) => {
      slide.used.add(cell);
      slide.parents.forEach((parent, side) => shown.stages[parent].used.add(pair[side]));
    }));
    for (let number = shown.slide - 1; number >= 0; number -= 1) {
      const { parents, sources, used } = shown.stages[number];
      parents.forEach((parent, side) => used.forEach((cell) => shown.stages[parent].used.add(sources[side][cell])));
    }
    return shown;
  }

  const isPutIn = (stage, cell) => stage.zeros.has(cell);

  // The pairs of cells that were multiplied for one cell of the sliding stage.
  function pairs(shown, cell) {
    const slide = shown.stages[shown.slide];
    const [first, second] = slide.sources;
    return first[cell].map((a, n) => [a, second[cell][n]]);
  }

  function isReal(shown, pair) {
    return shown.stages[shown.slide].parents.every((parent, side) => !isPutIn(shown.stages[parent], pair[side]));
  }

  // For each stage the cells of which one cell was made: [stage][set of cells].
  function feeding(shown, stage, cell) {
    const found = shown.stages.map(() => new Set());
    const visit = (number, at) => {
      const made = shown.stages[number];
      if (number === shown.slide) {
        for (const pair of pairs(shown, at).filter((pair) => isReal(shown, pair))) {
          made.parents.forEach((parent, side) => add(parent, pair[side]));
        }
      } else {
        made.parents.forEach((parent, side) => add(parent, made.sources[side][at]));
      }
    };
    const add = (number, at) => {
      if (at >= 0 && !found[number].has(at)) {
        found[number].add(at);
        visit(number, at);
      }
    };
    visit(stage, cell);
    return found;
  }

  // For each stage the cells that were made of one cell.
  function fed(shown, stage, cell) {
    const found = shown.stages.map(() => new Set());
    found[stage].add(cell);
    shown.stages.forEach((made, number) => {
      made.parents.forEach((parent, side) => {
        if (!found[parent].size) return;
        for (let at = 0; at < made.values.length; at += 1) {
          const hit = number === shown.slide
            ? pairs(shown, at).some((pair) => found[parent].has(pair[side]) && isReal(shown, pair))
            : found[parent].has(made.sources[side][at]);
          if (hit) found[number].add(at);
        }
      });
    });
    found[stage].delete(cell);
    return found;
  }

  // The cell of the sliding stage behind a cell of a later one.
  function summed(shown, stage, cell) {
    return stage === shown.slide ? cell : summed(shown, shown.stages[stage].parents[0], shown.stages[stage].sources[0][cell]);
  }

  // ------------------------------------------------------------ words

  const text = (stage, cell) => {
    if (isPutIn(stage, cell)) return "·";
    return state.symbols ? stage.symbols[cell] : String(stage.values[cell]);
  };

  function place(stage, cell) {
    const [, b, rows, columns] = stage.shape;
    const column = cell % columns, row = Math.floor(cell / columns) % rows;
    const plane = Math.floor(cell / columns / rows);
    const where = stage.shape[0] * b > 1 ? `[${Math.floor(plane / b)},${plane % b}] ` : "";
    return `${where}row ${row}, column ${column}`;
  }

  function written(shown, stage, cell) {
    const made = shown.stages[stage];
    const name = made.symbols[cell], value = made.values[cell];
    if (isPutIn(made, cell)) return `A zero that was put in, at ${place(made, cell)}: it stands for no element.`;
    if (stage < shown.slide || made.lane === "bias") return whereTo(shown, stage, cell);
    const both = pairs(shown, summed(shown, stage, cell));
    const real = both.filter((pair) => isReal(shown, pair));
    const [under, over] = shown.stages[shown.slide].parents.map((parent) => shown.stages[parent]);
    const symbols = real.map(([a, b]) => `${under.symbols[a]}·${over.symbols[b]}`);
    const numbers = real.map(([a, b]) => `${under.values[a]}·${over.values[b]}`);
    const bias = made.parents.length === 2 && stage !== shown.slide ? shown.stages[made.parents[1]] : null;
    if (bias) {
      symbols.push(bias.symbols[made.sources[1][cell]]);
      numbers.push(String(bias.values[made.sources[1][cell]]));
    }
    const zeros = both.length - real.length;
    const more = zeros ? `, and ${zeros} with a zero that was put in` : "";
    if (!numbers.length) return `${name} = ${value}: every product behind it has a zero that was put in.`;
    return `${name} = ${symbols.join(" + ")} = ${numbers.join(" + ")} = ${value}${more}`;
  }

  // A cell that was given or moved: the results that it goes into, each with its partner.
  function whereTo(shown, stage, cell) {
    const made = shown.stages[stage];
    const results = fed(shown, stage, cell);
    const slide = shown.stages[shown.slide];
    const here = slide.parents.map((parent) => (parent === stage ? new Set([cell]) : results[parent]));
    const goes = [];
    for (const at of results[shown.slide]) {
      for (const pair of pairs(shown, at)) {
        const side = here.findIndex((cells, n) => cells.has(pair[n]));
        if (side >= 0 && isReal(shown, pair)) {
          const partner = shown.stages[slide.parents[1 - side]];
          goes.push(`${slide.symbols[at]} (with ${partner.symbols[pair[1 - side]]} = ${partner.values[pair[1 - side]]})`);
        }
      }
    }
    const name = `${made.symbols[cell]} = ${made.values[cell]}`;
    if (made.lane === "bias") return `${name} is added to ${results[shown.stages.length - 1].size} cells of ${shown.result}.`;
    if (!goes.length) return `${name} goes into no cell of ${shown.result}: no window reads it.`;
    const count = goes.length === 1 ? "1 product" : `${goes.length} products`;
    return `${name} goes into ${count} of ${shown.result}: ${goes.join(", ")}.`;
  }

  // ------------------------------------------------------------ steps

  const count = (shown) => shown.stages[shown.slide].values.length;

  // The steps after the given arrays: one for each array that was made.
  const moves = (shown) => shown.stages.map((stage, number) => number).filter((number) => shown.stages[number].parents.length);

  function isVisible(shown, number) {
    const position = moves(shown).indexOf(number);
    return position < state.step;
  }

  const isSliding = (shown) => state.step > 0 && moves(shown)[state.step - 1] === shown.slide;

  function go(step, position) {
    const shown = map();
    state.step = Math.max(0, Math.min(step, moves(shown).length));
    state.window = isSliding(shown) ? Math.max(0, Math.min(position, count(shown) - 1)) : 0;
    state.chosen = null;
    refresh();
  }

  function back() {
    stop();
    go(state.step - 1, count(map()) - 1);
  }

  function forth() {
    go(state.step + 1, 0);
  }

  // One beat of the play: the window moves; at its end the next step.
  function beat() {
    const shown = map();
    if (isSliding(shown) && state.window < count(shown) - 1) go(state.step, state.window + 1);
    else if (state.step < moves(shown).length) forth();
    if (state.step === moves(shown).length && (!isSliding(shown) || state.window === count(shown) - 1)) stop();
  }

  function play() {
    if (state.timer) return stop();
    const shown = map();
    const slide = moves(shown).indexOf(shown.slide) + 1;
    if (state.step === moves(shown).length) go(slide, 0);
    state.timer = setInterval(beat, 700);
    refresh();
  }

  function stop() {
    clearInterval(state.timer);
    state.timer = null;
    at("run").setAttribute("aria-pressed", "false");
    at("run").textContent = "Play";
  }

  // ------------------------------------------------------------ drawing

  function drawAll() {
    const problem = data.problems[state.problem], shown = map();
    at("problem").value = String(state.problem);
    at("says").textContent = problem.says;
    at("facts").textContent = `${problem.descriptor}\n${problem.facts.join("\n")}`;
    at("formula").textContent = shown.formula.join("\n");
    at("maps").replaceChildren(...problem.maps.map((each, number) => {
      const button = make("button", { type: "button", textContent: each.title });
      button.setAttribute("aria-pressed", String(number === state.map));
      button.addEventListener("click", () => choose(state.problem, number));
      return button;
    }));
    at("steps").replaceChildren(...[null, ...moves(shown)].map((number, step) => {
      const label = number === null ? "the given arrays" : shown.stages[number].caption;
      const button = make("button", { type: "button", textContent: `${step}. ${label}` });
      button.addEventListener("click", () => { stop(); go(step, 0); });
      return make("li", {}, button);
    }));
    at("arrays").replaceChildren(...["A", "B", "result"].map((lane) => {
      const inLane = shown.stages.map((stage, number) => number)
        .filter((number) => shown.stages[number].lane === lane || (lane === "result" && shown.stages[number].lane === "bias"));
      return make("div", { className: `lane ${lane}` }, ...inLane.flatMap((number) => drawStage(shown, number)));
    }));
    drawIdentity(problem);
    refresh();
  }

  function drawStage(shown, number) {
    const stage = shown.stages[number];
    const [first, second, rows, columns] = stage.shape;
    const title = make("h3", { textContent: stage.caption, id: `caption-${number}` });
    const planes = make("div", { className: "planes" });
    planes.style.setProperty("--across", String(Math.min(first * second, columns > 5 ? 2 : 4)));
    for (let plane = 0; plane < first * second; plane += 1) {
      const table = make("table", { className: "plane" });
      table.setAttribute("role", "grid");
      const name = first * second > 1 ? `[${Math.floor(plane / second)},${plane % second}]` : "";
      table.setAttribute("aria-label", `${stage.caption} ${name}`.trim());
      if (name) table.append(make("caption", { textContent: name }));
      for (let row = 0; row < rows; row += 1) {
        const line = make("tr", {});
        for (let column = 0; column < columns; column += 1) {
          line.append(drawCell(shown, number, (plane * rows + row) * columns + column, row === 0 && column === 0));
        }
        table.append(line);
      }
      planes.append(table);
    }
    const what = stage.says ? [make("p", { className: "what", textContent: stage.says })] : [];
    const section = make("div", { className: `stage ${stage.lane}`, id: `stage-${number}` }, title, ...what, planes);
    const sign = stage.parents.length && number !== shown.slide ? [make("span", { className: "arrow", textContent: "→", id: `arrow-${number}` })] : [];
    sign.forEach((arrow) => arrow.setAttribute("aria-hidden", "true"));
    return [...sign, section];
  }

  function drawCell(shown, number, cell, first) {
    const td = make("td", { id: `cell-${number}-${cell}`, tabIndex: first ? 0 : -1 });
    td.setAttribute("role", "gridcell");
    const stage = shown.stages[number];
    if (isPutIn(stage, cell)) td.classList.add("put-in");
    else if (isUnread(shown, number, cell)) td.classList.add("unread");
    td.addEventListener("mouseenter", () => pick(number, cell));
    td.addEventListener("focus", () => pick(number, cell));
    td.addEventListener("click", () => td.focus());
    td.addEventListener("keydown", (event) => walk(event, stage, number, cell));
    return td;
  }

  // A cell that goes into no product, or a result that is the sum of none.
  function isUnread(shown, number, cell) {
    const stage = shown.stages[number];
    if (stage.lane === "bias") return false;
    return number < shown.slide ? !stage.used.has(cell) : !shown.stages[shown.slide].used.has(summed(shown, number, cell));
  }

  function walk(event, stage, number, cell) {
    const [, , rows, columns] = stage.shape;
    const column = cell % columns, row = Math.floor(cell / columns) % rows, plane = Math.floor(cell / columns / rows);
    const to = {
      ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
      Home: [row, 0], End: [row, columns - 1],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    const [r, c] = to;
    if (r < 0 || r >= rows || c < 0 || c >= columns) return;
    const from = at(`cell-${number}-${cell}`), target = at(`cell-${number}-${(plane * rows + r) * columns + c}`);
    from.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  }

  function pick(number, cell) {
    if (state.timer) return;
    if (at(`cell-${number}-${cell}`).classList.contains("waiting")) return;
    state.chosen = [number, cell];
    mark();
  }

  // Everything that depends on the step, without building the arrays anew.
  function refresh() {
    const shown = map(), sliding = isSliding(shown);
    shown.stages.forEach((stage, number) => {
      const hidden = stage.parents.length > 0 && !isVisible(shown, number);
      at(`stage-${number}`).hidden = hidden;
      if (at(`arrow-${number}`)) at(`arrow-${number}`).hidden = hidden;
      stage.values.forEach((value, cell) => {
        const td = at(`cell-${number}-${cell}`);
        const waiting = sliding && number === shown.slide && cell > state.window;
        td.classList.toggle("waiting", waiting);
        td.textContent = waiting ? "?" : text(stage, cell);
        const known = waiting ? "not summed yet" : isPutIn(stage, cell) ? "zero, put in" : `${value}, ${stage.symbols[cell]}`;
        td.setAttribute("aria-label", `${place(stage, cell)}: ${known}`);
      });
    });
    at("steps").querySelectorAll("button").forEach((button, step) => {
      if (step === state.step) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    at("back").disabled = state.step === 0;
    at("first").disabled = state.step === 0;
    at("forth").disabled = state.step === moves(shown).length;
    at("slider").max = String(count(shown) - 1);
    at("slider").value = String(state.window);
    at("slider-label").style.visibility = sliding ? "visible" : "hidden";
    at("run").setAttribute("aria-pressed", String(Boolean(state.timer)));
    at("run").textContent = state.timer ? "Pause" : "Play";
    at("symbols").setAttribute("aria-pressed", String(state.symbols));
    mark();
  }

  function mark() {
    const shown = map();
    document.querySelectorAll("td.feeds, td.goes, td.chosen, td.window").forEach((td) => td.classList.remove("feeds", "goes", "chosen", "window"));
    const [number, cell] = state.chosen || (isSliding(shown) ? [shown.slide, state.window] : [null, null]);
    if (number === null) {
      at("products").textContent = "Rest on a cell, or move to one with the Tab and arrow keys.";
      return;
    }
    at(`cell-${number}-${cell}`).classList.add("chosen");
    feeding(shown, number, cell).forEach((cells, stage) => cells.forEach((each) => at(`cell-${stage}-${each}`).classList.add("feeds")));
    fed(shown, number, cell).forEach((cells, stage) => cells.forEach((each) => at(`cell-${stage}-${each}`).classList.add("goes")));
    if (number >= shown.slide && shown.stages[number].lane === "result") {
      const under = shown.stages[shown.slide].parents[0];
      for (const [a] of pairs(shown, summed(shown, number, cell))) at(`cell-${under}-${a}`).classList.add("window");
    }
    at("products").textContent = written(shown, number, cell);
  }

  // The inner products of the arrays on the page, cell by cell.
  function drawIdentity(problem) {
    const found = Object.fromEntries(problem.maps.map((each) => [each.of, each.stages.at(-1).values]));
    const output = problem.arrays.bias ? problem.maps[0].stages[problem.maps[0].slide].values : found.forward;
    const inner = (a, b) => a.reduce((sum, value, cell) => sum + BigInt(value) * BigInt(b[cell]), 0n);
    const sums = [
      ["<output, g>", inner(output, problem.arrays.grad_output)],
      ["<x, grad_input>", inner(problem.arrays.input, found.input)],
      ["<w, grad_weight>", inner(problem.arrays.weight, found.weight)],
    ];
    const equal = sums.every(([, sum]) => sum === sums[0][1]);
    const bias = problem.arrays.bias ? " (output before the bias)" : "";
    at("identity").textContent = `${sums.map(([name, sum]) => `${name} = ${sum}`).join(",  ")}: ${equal ? "equal" : "NOT EQUAL"}${bias}`;
  }

  // ------------------------------------------------------------ choosing

  function choose(problem, number) {
    stop();
    state.problem = problem;
    state.map = Math.min(number, data.problems[problem].maps.length - 1);
    state.step = moves(map()).length;
    state.window = isSliding(map()) ? count(map()) - 1 : 0;
    state.chosen = null;
    at("answer").textContent = "";
    drawAll();
    const { name } = data.problems[problem];
    history.replaceState(null, "", `#${name}/${map().of}`);
  }

  // #problem/map/array/cell, as the questions and the lessons link.
  function follow(hash) {
    const [name, of, array, cell] = hash.replace(/^#/, "").split("/");
    const problem = Math.max(0, data.problems.findIndex((each) => each.name === name));
    const number = Math.max(0, data.problems[problem].maps.findIndex((each) => each.of === of));
    choose(problem, number);
    if (array && cell) {
      state.chosen = [map().stages.length - 1, Number(cell)];
      mark();
    }
  }

  data.problems.forEach((problem) => problem.maps.forEach(prepare));
  data.problems.forEach((each, number) => at("problem").append(make("option", { value: String(number), textContent: each.title })));
  at("problem").addEventListener("change", () => choose(Number(at("problem").value), state.map));
  at("first").addEventListener("click", () => { stop(); go(0, 0); });
  at("back").addEventListener("click", back);
  at("forth").addEventListener("click", () => { stop(); forth(); });
  at("run").addEventListener("click", play);
  at("slider").addEventListener("input", () => { stop(); go(state.step, Number(at("slider").value)); });
  at("symbols").addEventListener("click", () => { state.symbols = !state.symbols; refresh(); });

  const isDark = () => document.documentElement.dataset.theme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  const showTheme = () => at("theme").setAttribute("aria-pressed", String(isDark()));
  at("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  showTheme();

  data.questions.forEach((question) => {
    const button = make("button", { type: "button", textContent: question.asks });
    button.addEventListener("click", () => {
      follow(question.place);
      at("answer").textContent = `${question.asks} ${question.answer}`;
      at("answer").scrollIntoView({ block: "start" });
    });
    at("questions").append(button);
  });

  document.addEventListener("keydown", (event) => {
    if (event.target.closest("button, select, input, a, td") || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = { ArrowLeft: back, ArrowRight: () => { stop(); forth(); }, " ": play }[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  addEventListener("hashchange", () => follow(location.hash));
  if (innerWidth < 700) at("about").open = false;
  follow(location.hash || data.start);
  window.npconv = { data, state, prepare, feeding, fed };
})();
