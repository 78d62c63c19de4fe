// The p/q explorer of lesson 05: move p and q, choose a rule, see which law comes out.
//
// split, emitted and rescale are pure, and Node tests them against course.speculative. render shows
// them: as an anywidget in JupyterLab, and on a page mounted by mount.js. No import, no dependency:
// a page may load this text from a Blob. Left out: more than one token (that is the stepper).

const DUST = 1e-12; // less than this is rounding, as in course.speculative
const sum = (law) => law.reduce((total, v) => total + v, 0);
const two = (v) => Math.abs(v).toFixed(2);
const safe = (word) => String(word).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// What p and q share (kept), what a rejection owes to p, what q gave too much (thrown away),
// alpha, and the residual: null where nothing is owed.
export function split(p, q) {
  const kept = p.map((v, i) => Math.min(v, q[i]));
  const owed = p.map((v, i) => Math.max(v - q[i], 0));
  const thrown = p.map((v, i) => Math.max(q[i] - v, 0));
  const residual = Math.max(...owed) > DUST ? owed.map((v) => v / sum(owed)) : null;
  return { kept, owed, thrown, alpha: sum(kept), residual };
}

// id: what a reader calls it. The first is right, the others are tempting.
export const RULES = {
  "right": "the rule: redraw from the residual",
  "from-p": "redraw from p",
  "from-q": "redraw from q",
  "gap": "redraw from |p − q|",
  "favourite": "take the residual’s favourite, no draw",
  "always": "always accept",
  "no-coin": "accept only if p(x) ≥ q(x), no coin",
};

// The law that comes out under a rule, the part of it that was accepted, the law of the redraw
// (null if there is none), and the distance (total variation) from p.
export function emitted(p, q, rule = "right") {
  const { kept, residual } = split(p, q);
  const gap = p.map((v, i) => Math.abs(v - q[i]));
  let [accepted, redraw] = [kept, residual];
  if (rule === "always") [accepted, redraw] = [[...q], null];
  // p and q that are equal but for rounding count as equal here, or the rule would hang on dust
  if (rule === "no-coin") accepted = q.map((v, i) => (p[i] >= v - DUST ? v : 0));
  if (residual && rule === "from-p") redraw = [...p];
  if (residual && rule === "from-q") redraw = [...q];
  if (residual && rule === "gap") redraw = gap.map((v) => v / sum(gap));
  if (residual && rule === "favourite") {
    const best = residual.indexOf(Math.max(...residual));
    redraw = residual.map((_, i) => (i === best ? 1 : 0));
  }
  const left = 1 - sum(accepted);
  const law = accepted.map((v, i) => v + (redraw ? left * redraw[i] : 0));
  return { accepted, redraw, law, distance: sum(law.map((v, i) => Math.abs(v - p[i]))) / 2 };
}

// The law with its entry i set to value, the others scaled so that all add up to 1.
export function rescale(law, i, value) {
  const others = 1 - law[i];
  return law.map((v, k) => {
    if (k === i) return value;
    return (1 - value) * (others > DUST ? v / others : 1 / (law.length - 1));
  });
}

// One sentence that says all numbers of the picture.
export function say(p, q, rule) {
  const { accepted, law, distance } = emitted(p, q, rule);
  const [keeps, same] = [sum(accepted), distance < 1e-9];
  const size = distance < 0.005 ? "less than 0.01" : two(distance);
  return `A guess is kept with probability ${rule === "right" ? "α = " : ""}${two(keeps)} and `
    + `redrawn with probability ${two(1 - keeps)}. Out come ${law.map(two).join(", ")}: `
    + (same ? "exactly p (distance 0)." : `p is left, by a distance of ${size}.`);
}

const HIGH = 210; // pixels of probability 1, fixed so that bars never jump
const up = (v) => (HIGH * (1 - v)).toFixed(1);

function label(x, y, lines) {
  const first = y - 14 * (lines.length - 1);
  return lines.map((word, k) => `<text x="${x}%" y="${(first + 14 * k).toFixed(1)}" `
    + `text-anchor="middle">${word}</text>`).join("");
}

function bar(column, from, to, look) {
  if (to - from < DUST) return "";
  return `<rect x="${column.left}%" width="${column.wide}%" y="${up(to)}" `
    + `height="${(HIGH * (to - from)).toFixed(1)}" ${look}/>`;
}

// An SVG with axes; draw(column, i) gives the bars of token i. Widths are shares, heights pixels.
function chart(words, names, id, draw) {
  const step = 100 / names.length;
  const grid = [0, 0.25, 0.5, 0.75, 1].map((v) => `<line class="cw-grid" x1="0" x2="100%" `
    + `y1="${up(v)}" y2="${up(v)}"/><text x="-6" y="${+up(v) + 4}" text-anchor="end">${v}</text>`);
  const columns = names.map((name, i) => {
    const column = { middle: step * (i + 0.5), left: step * (i + 0.2), wide: step * 0.6 };
    return draw(column, i) + label(column.middle, HIGH + 18, [safe(name)]);
  });
  return `<svg role="img" aria-label="${safe(words)}" height="${HIGH + 28}"><defs>`
    + `<pattern id="${id}s" width="7" height="7" patternUnits="userSpaceOnUse" `
    + `patternTransform="rotate(45)"><rect width="7" height="7" fill="#fff"/>`
    + `<path d="M0 0V7" stroke="#0072B2" stroke-width="3.5"/></pattern>`
    + `<pattern id="${id}d" width="7" height="7" patternUnits="userSpaceOnUse">`
    + `<rect width="7" height="7" fill="#fff"/><circle cx="3.5" cy="3.5" r="1.7" fill="#D55E00"/>`
    + `</pattern></defs>${grid.join("")}${columns.join("")}</svg>`;
}

const looks = (id) => ({
  kept: 'fill="#D9D9D9" stroke="#222"',
  owed: `fill="url(#${id}s)" stroke="#0072B2" stroke-width="2"`,
  thrown: `fill="url(#${id}d)" stroke="#D55E00" stroke-width="2"`,
  missing: 'fill="#fff" stroke="#0072B2" stroke-width="2" stroke-dasharray="5 4"',
});

function inside(column, value, word) {
  const middle = +up(value / 2);
  if (HIGH * value > 34) return label(column.middle, middle + 11, [word, two(value)]);
  return HIGH * value > 16 ? label(column.middle, middle + 4, [two(value)]) : "";
}

// The picture of the lesson: kept grey, owed striped, thrown away dotted.
export function bill(p, q, names, id) {
  const { kept, owed, thrown } = split(p, q), look = looks(id);
  return chart("Bars of p and q; the table below has the numbers", names, id, (column, i) => {
    const top = +up(Math.max(p[i], q[i])) - 6;
    const away = names.length > 4 ? ["thrown", `away ${two(thrown[i])}`]
      : ["thrown away", two(thrown[i])];
    return bar(column, kept[i], p[i], look.owed) + bar(column, kept[i], q[i], look.thrown)
      + bar(column, 0, kept[i], look.kept) + inside(column, kept[i], "kept")
      + (owed[i] > DUST ? label(column.middle, top, ["owed", two(owed[i])]) : "")
      + (thrown[i] > DUST ? label(column.middle, top, away) : "");
  });
}

// What comes out against p: grey accepted, striped repaid to p, dotted too much, dashed missing.
export function outcome(p, q, names, rule, id) {
  const { accepted, law } = emitted(p, q, rule), look = looks(id);
  return chart("Bars of what comes out, against p; the table below has the numbers", names, id,
    (column, i) => {
      const [solid, paid] = [Math.min(accepted[i], p[i]), Math.min(law[i], p[i])];
      const off = law[i] - p[i], top = +up(Math.max(law[i], p[i])) - 8;
      const words = Math.abs(off) < 1e-9 ? [two(law[i])]
        : [off > 0 ? "too much" : "missing", two(off)];
      return bar(column, paid, p[i], look.missing) + bar(column, p[i], law[i], look.thrown)
        + bar(column, solid, paid, look.owed) + bar(column, 0, solid, look.kept)
        + `<line class="cw-mark" x1="${column.left - 2}%" x2="${column.left + column.wide + 2}%" `
        + `y1="${up(p[i])}" y2="${up(p[i])}"/>` + label(column.middle, top, words);
    });
}

// The numbers of the picture as rows of a table, with their sums.
export function table(p, q, names, rule) {
  const { kept, owed, thrown } = split(p, q), { redraw, law } = emitted(p, q, rule);
  const columns = [p, q, kept, owed, thrown, redraw, law];
  const heads = ["token", "p", "q", "kept", "owed", "thrown away", "redraw", "comes out"];
  const row = (name, numbers) => `<tr><th scope="row">${safe(name)}</th>`
    + numbers.map((v) => `<td>${v === null ? "–" : two(v)}</td>`).join("") + "</tr>";
  return `<thead><tr>${heads.map((h) => `<th scope="col">${h}</th>`).join("")}</tr></thead><tbody>`
    + names.map((name, i) => row(name, columns.map((c) => c && c[i]))).join("") + "</tbody><tfoot>"
    + row("sum", columns.map((c) => c && sum(c))) + "</tfoot>";
}

const SKELETON = `<div class="cw-sliders"><span></span><span><b class="cw-key-p"></b>target p</span>
  <span><b class="cw-key-q"></b>draft q</span></div>
  <p class="cw-row"><label>The rule <select>RULES</select></label>
  <button type="button">back to the start</button></p>
  <p class="cw-say" aria-live="polite"></p>
  <div class="cw-panels"><div><p class="cw-title"></p><div class="cw-plot"></div></div>
  <div><p class="cw-title"></p><div class="cw-plot"></div></div></div>
  <table class="cw-table" aria-label="the numbers of the pictures"></table>`;

// Adds one slider for entry i of the law called letter; move(value) hears the reader.
function slider(box, letter, name, move) {
  const cell = document.createElement("span");
  const word = `${letter === "p" ? "target" : "draft"} ${letter} of ${name}`;
  cell.innerHTML = `<input type="range" class="cw-${letter}" min="0" max="1" step="0.01" `
    + `aria-label="${safe(word)}"><output aria-hidden="true"></output>`;
  box.append(cell);
  const input = cell.firstChild;
  input.addEventListener("input", () => move(Number(input.value)));
  return (value) => {
    input.value = value;
    input.setAttribute("aria-valuetext", two(value));
    cell.lastChild.textContent = two(value);
  };
}

function render({ model, el }) {
  const names = model.get("names"), id = "cw" + Math.random().toString(36).slice(2);
  const root = document.createElement("div");
  root.className = "cw cw-pq";
  root.innerHTML = SKELETON.replace("RULES", Object.entries(RULES).map(([key, word]) =>
    `<option value="${key}">${word}</option>`).join(""));
  const find = (what) => [...root.querySelectorAll(what)];
  const [select, titles, plots] = [find("select")[0], find(".cw-title"), find(".cw-plot")];
  let held = {}; // the law as it was when this slider was taken: a way back from 0 and 1
  const move = (letter, i) => (value) => {
    if (held.letter !== letter || held.i !== i) held = { letter, i, law: model.get(letter) };
    model.set(letter, rescale(held.law, i, value));
    model.save_changes();
  };
  const show = { p: [], q: [] };
  names.forEach((name, i) => {
    const box = find(".cw-sliders")[0], word = document.createElement("span");
    word.textContent = name;
    box.append(word);
    for (const letter of ["p", "q"]) show[letter].push(slider(box, letter, name, move(letter, i)));
  });
  const draw = () => {
    const p = model.get("p"), q = model.get("q"), rule = select.value;
    const { distance } = emitted(p, q, rule), words = say(p, q, rule);
    for (const letter of ["p", "q"]) model.get(letter).forEach((v, i) => show[letter][i](v));
    titles[0].textContent = `The draft keeps ${Math.round(100 * split(p, q).alpha)} %`;
    titles[1].textContent = distance < 1e-9 ? "What comes out is p" : "What comes out is not p";
    plots[0].innerHTML = bill(p, q, names, id + "a");
    plots[1].innerHTML = outcome(p, q, names, rule, id + "b");
    find("table")[0].innerHTML = table(p, q, names, rule);
    if (find(".cw-say")[0].textContent !== words) find(".cw-say")[0].textContent = words;
  };
  select.addEventListener("change", draw);
  find("button")[0].addEventListener("click", () => {
    [held, select.value] = [{}, "right"];
    model.get("start").forEach((law, k) => model.set(k ? "q" : "p", law));
    model.save_changes();
    draw();
  });
  model.on("change:p", draw);
  model.on("change:q", draw);
  el.replaceChildren(root);
  draw();
}

export default { render };
