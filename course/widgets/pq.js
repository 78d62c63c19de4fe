// The p/q explorer of lesson 05: move p and q, choose a rule, see which law comes out.
// split, emitted and rescale are pure; Node tests them against course. No import: a page may load
// this text from a Blob. Left out: more than one token (that is the stepper).

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
  "right": "right: redraw from the residual",
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
  const { kept, residual } = split(p, q), gap = p.map((v, i) => Math.abs(v - q[i]));
  const best = residual?.indexOf(Math.max(...residual));
  const wrong = { "from-p": p, "from-q": q, "gap": gap.map((v) => v / sum(gap)), "always": null,
    "favourite": residual?.map((_, i) => Number(i === best)) };
  const redraw = residual && rule in wrong ? wrong[rule] : residual;
  // p and q that are equal but for rounding count as equal here, or the rule would hang on dust
  const coinless = q.map((v, i) => (p[i] >= v - DUST ? v : 0));
  const accepted = { "always": q, "no-coin": coinless }[rule] ?? kept, left = 1 - sum(accepted);
  const law = accepted.map((v, i) => v + (redraw ? left * redraw[i] : 0));
  return { accepted, redraw, law, distance: sum(law.map((v, i) => Math.abs(v - p[i]))) / 2 };
}

// The law with its entry i set to value, the others scaled so that all add up to 1.
export function rescale(law, i, value) {
  const others = 1 - law[i];
  return law.map((v, k) => (k === i ? value
    : (1 - value) * (others > DUST ? v / others : 1 / (law.length - 1))));
}

// One sentence that says the numbers.
export function say(p, q, rule) {
  const { accepted, law, distance } = emitted(p, q, rule), keeps = sum(accepted);
  const off = distance < 0.005 ? "less than 0.01" : two(distance);
  return (rule === "right" ? "Kept with probability α = " : "This rule keeps with probability ")
    + `${two(keeps)}, redraws with ${two(1 - keeps)}. Out come ${law.map(two).join(", ")}: `
    + (distance < 1e-9 ? "this is p, the distance is 0." : `not p, the distance is ${off}.`);
}

const HIGH = 210; // pixels of probability 1, fixed so that bars never jump
const up = (v) => (HIGH * (1 - v)).toFixed(1);

function label(column, y, ...lines) { // centred on the column, the last line at height y
  return lines.map((word, k) => `<text text-anchor="middle" x="${column.middle}%" `
    + `y="${y - 14 * (lines.length - 1 - k)}">${word}</text>`).join("");
}

function bar(column, from, to, look) { // look: a class of widgets.css or a pattern below
  return to - from < DUST ? "" : `<rect class="cw-${look}" fill="url(#${column.id}${look})" `
    + `x="${column.left}%" width="${column.wide}%" y="${up(to)}" height="${HIGH * (to - from)}"/>`;
}

// An SVG with axes; draw(column, i) gives the bars of token i. Widths are shares, heights pixels.
function chart(words, names, draw) {
  const id = "cw" + Math.random().toString(36).slice(2), step = 100 / names.length;
  const grid = [0, 0.25, 0.5, 0.75, 1].map((v) => `<line class="cw-grid" x2="100%" y1="${up(v)}" `
    + `y2="${up(v)}"/><text x="-6" y="${+up(v) + 4}" text-anchor="end">${v}</text>`);
  const columns = names.map((name, i) => {
    const column = { id, middle: step * (i + 0.5), left: step * (i + 0.2), wide: step * 0.6 };
    return draw(column, i) + label(column, HIGH + 18, safe(name));
  });
  const pattern = (look, turn, shape) => `<pattern id="${id}${look}" width="7" height="7" `
    + `patternUnits="userSpaceOnUse" patternTransform="rotate(${turn})">`
    + `<rect width="7" height="7" fill="#fff"/>${shape}</pattern>`;
  return `<svg role="img" aria-label="${words}; the table has the numbers" height="${HIGH + 28}">`
    + pattern("owed", 45, '<path d="M0 0V7" stroke="#0072B2" stroke-width="3.5"/>')
    + pattern("thrown", 0, '<circle cx="3.5" cy="3.5" r="1.7" fill="#D55E00"/>')
    + grid.join("") + columns.join("") + "</svg>";
}

// The picture of the lesson: kept grey, owed striped, thrown away dotted.
export function bill(p, q, names) {
  const { kept, owed, thrown } = split(p, q);
  return chart("Bars of p and q", names, (column, i) => {
    const top = +up(Math.max(p[i], q[i])) - 6, middle = +up(kept[i] / 2);
    const inside = HIGH * kept[i] > 34 ? label(column, middle + 11, "kept", two(kept[i]))
      : HIGH * kept[i] > 16 ? label(column, middle + 4, two(kept[i])) : "";
    const size = two(owed[i] + thrown[i]), narrow = names.length > 4;
    return bar(column, kept[i], p[i], "owed") + bar(column, kept[i], q[i], "thrown")
      + bar(column, 0, kept[i], "kept") + inside + label(column, top, ...(owed[i] > DUST
        ? ["owed", size] : thrown[i] <= DUST ? [] : narrow ? ["thrown", `away ${size}`]
          : ["thrown away", size]));
  });
}

// What comes out against p: grey accepted, striped repaid to p, dotted over, dashed missing.
export function outcome(p, q, names, rule) {
  const { accepted, law } = emitted(p, q, rule);
  return chart("Bars of what comes out, against p", names, (column, i) => {
    const [solid, paid] = [Math.min(accepted[i], p[i]), Math.min(law[i], p[i])];
    const off = law[i] - p[i], top = +up(Math.max(law[i], p[i])) - 8;
    const right = column.left + column.wide + 2;
    return bar(column, paid, p[i], "missing") + bar(column, p[i], law[i], "thrown")
      + bar(column, solid, paid, "owed") + bar(column, 0, solid, "kept")
      + `<line class="cw-mark" x1="${column.left - 2}%" x2="${right}%" y1="${up(p[i])}" `
      + `y2="${up(p[i])}"/>`
      + (i < names.length - 1 ? "" : `<text x="${right}%" dx="3" y="${+up(p[i]) + 4}">p</text>`)
      + (Math.abs(off) < 1e-9 ? label(column, top, two(law[i]))
        : label(column, top, off > 0 ? "over" : "missing", two(off)));
  });
}

// The numbers of the pictures, one row a quantity, with their sums; the swatches are the legend.
export function table(p, q, names, rule) {
  const { kept, owed, thrown } = split(p, q), { accepted, redraw, law } = emitted(p, q, rule);
  const other = ["always", "no-coin"].includes(rule) ? { accepted } : {}; // else it is kept
  const rows = { p, q, kept, owed, "thrown away": thrown, ...other,
    "redraw": redraw ?? names.map(() => null), "comes out": law };
  const key = { "kept": "kept", "owed": "p", "thrown away": "q" };
  const cell = (v) => `<td>${v === null ? "–" : two(v)}</td>`;
  const line = ([word, law]) => `<tr><th scope="row">`
    + (key[word] ? `<b class="cw-key-${key[word]}"></b>` : "") + word + "</th>"
    + [...law, law[0] === null ? null : sum(law)].map(cell).join("") + "</tr>";
  const heads = ["law", ...names, "sum"].map((word) => `<th scope="col">${safe(word)}</th>`);
  return `<thead><tr>${heads.join("")}</tr></thead><tbody>`
    + Object.entries(rows).map(line).join("") + "</tbody>";
}

const KEYS = 'data-lm-suppress-shortcuts="true"'; // or JupyterLab takes the arrow keys for itself

function skeleton(names) {
  const slider = (letter, whose) => `<span><input type="range" min="0" max="1" step="0.01" `
    + `data-law="${letter}" aria-label="${whose}" ${KEYS}><output></output></span>`;
  const head = (letter, word) => `<span><b class="cw-key-${letter}"></b>${word}</span>`;
  const rows = names.map(safe).map((name) => `<span>${name}</span>`
    + slider("p", `target p of ${name}`) + slider("q", `draft q of ${name}`));
  const rules = Object.entries(RULES).map(([id, word]) => `<option value="${id}">${word}</option>`);
  const panel = '<div><p class="cw-title"></p><div class="cw-plot"></div></div>';
  return `<div class="cw-sliders"><span></span>${head("p", "target p")}${head("q", "draft q")}
    ${rows.join("")}</div><p class="cw-row"><label>rule <select ${KEYS}>${rules.join("")}</select>
    </label><button type="button" ${KEYS}>back to the start</button></p>
    <p class="cw-say" aria-live="polite"></p>
    <div class="cw-panels">${panel}${panel}</div>
    <div class="cw-wide"><table class="cw-table" aria-label="numbers"></table></div>`;
}

function draw(root, p, q, names) {
  const find = (what) => [...root.querySelectorAll(what)], rule = find("select")[0].value;
  for (const [letter, law] of [["p", p], ["q", q]]) {
    find(`[data-law=${letter}]`).forEach((input, i) => {
      input.value = law[i];
      input.setAttribute("aria-valuetext", two(law[i]));
      input.nextSibling.textContent = two(law[i]);
    });
  }
  const titles = [`p and q share ${Math.round(100 * split(p, q).alpha)} %`,
    `What comes out is ${emitted(p, q, rule).distance < 1e-9 ? "" : "not "}p`];
  find(".cw-title").forEach((title, k) => { title.textContent = titles[k]; });
  const pictures = [bill(p, q, names), outcome(p, q, names, rule)];
  find(".cw-plot").forEach((plot, k) => { plot.innerHTML = pictures[k]; });
  find("table")[0].innerHTML = table(p, q, names, rule);
  find(".cw-say")[0].textContent = say(p, q, rule);
}

function render({ model, el }) {
  const names = model.get("names"), root = document.createElement("div");
  const show = () => draw(root, model.get("p"), model.get("q"), names);
  const set = (letter, law) => { model.set(letter, law); model.save_changes(); };
  let held = {}; // the law as it was when this slider was taken: a way back from 0 and from 1
  [root.className, root.innerHTML] = ["cw cw-pq", skeleton(names)];
  root.querySelectorAll("input").forEach((input, k) => input.addEventListener("input", () => {
    const letter = input.dataset.law;
    if (held.input !== input) held = { input, law: model.get(letter) };
    set(letter, rescale(held.law, k >> 1, Number(input.value)));
  }));
  root.querySelector("select").addEventListener("change", show);
  root.querySelector("button").addEventListener("click", () => {
    held = {};
    root.querySelector("select").value = "right";
    model.get("start").forEach((law, k) => set("pq"[k], law));
    show();
  });
  for (const letter of ["p", "q"]) model.on(`change:${letter}`, show);
  el.replaceChildren(root);
  show();
}

export default { render };
