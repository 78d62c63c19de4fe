// The gain explorer of lesson 08: move alpha, c, gamma, choose v, see how many times as fast it is.
// tokens, speedUp and best are pure; Node tests them against course.gain. No import: a page may load
// this text from a Blob. v is a list with v[n], v[0] is not used. Left out: acceptance that changes.

const two = (v) => v.toFixed(2);
const safe = (word) => String(word).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// Words that a round of gamma guesses writes on average: 1 + alpha + ... + alpha ** gamma.
export function tokens(alpha, gamma) {
  let sum = 0;
  for (let i = 0; i <= gamma; i += 1) sum += alpha ** i;
  return sum;
}

// Passes over one position that a round takes.
export const passes = (gamma, c, v) => gamma * c + v[gamma + 1];

export const speedUp = (alpha, gamma, c, v) => tokens(alpha, gamma) / passes(gamma, c, v);

// The gamma, from 0 to where v ends, with the largest speed-up; the smaller one of two equals.
export function best(alpha, c, v) {
  let found = 0;
  for (let gamma = 1; gamma < v.length - 1; gamma += 1) {
    if (speedUp(alpha, gamma, c, v) > speedUp(alpha, found, c, v)) found = gamma;
  }
  return found;
}

// The sentences that say the numbers.
export function say(alpha, gamma, c, v) {
  const gain = speedUp(alpha, gamma, c, v), top = best(alpha, c, v);
  const words = `A round of ${gamma} ${gamma === 1 ? "guess" : "guesses"} writes `
    + `${two(tokens(alpha, gamma))} words and takes ${two(passes(gamma, c, v))} passes: `;
  const fast = two(gain) === "1.00" ? "as fast as without a draft. "
    : `${two(gain)} times as fast${gain < 1 ? ", slower than without a draft" : ""}. `;
  return words + fast + (top === 0 ? "No number of guesses pays: best is no draft."
    : top === gamma ? "No other number of guesses is better."
      : `Best is γ = ${top}, with ${two(speedUp(alpha, top, c, v))}.`);
}

const HIGH = 210; // pixels of the plot
const TOPS = [2, 4, 6, 10, 20]; // ends of the scale, few of them, so that it seldom jumps

// The curve over gamma: a dot each, a ring at the best, a square at the chosen one.
export function curve(alpha, gamma, c, v) {
  const most = v.length - 2, gains = Array.from({ length: most + 1 },
    (_, g) => speedUp(alpha, g, c, v));
  const high = Math.max(...gains), top = TOPS.find((t) => t >= 1.12 * high) ?? Math.ceil(1.2 * high);
  const at = (g) => `${(100 * (g + 0.5)) / (most + 1)}%`;
  const up = (s) => (HIGH * (1 - s / top)).toFixed(1);
  const ticks = [0, 1, 2, 3, 4].map((k) => (k * top) / 4).filter((t) => t !== 1);
  const grid = ticks.map((t) => `<line class="cw-grid" x2="100%" y1="${up(t)}" y2="${up(t)}"/>`
    + `<text x="-6" y="${+up(t) + 4}" text-anchor="end">${+t.toFixed(2)}</text>`);
  const plain = `<line class="cw-plain" x2="100%" y1="${up(1)}" y2="${up(1)}"/>` // no draft
    + (top > 10 ? "" : `<text x="-6" y="${+up(1) + 4}" text-anchor="end">1</text>`);
  const parts = gains.slice(1).map((s, g) => `<line class="cw-curve" x1="${at(g)}" `
    + `x2="${at(g + 1)}" y1="${up(gains[g])}" y2="${up(s)}"/>`);
  const dots = gains.map((s, g) => `<circle class="cw-dot" cx="${at(g)}" cy="${up(s)}" r="3.5"/>`);
  const names = gains.map((_, g) => (g % 2 ? "" : `<text text-anchor="middle" x="${at(g)}" `
    + `y="${HIGH + 18}">${g}</text>`));
  const winner = best(alpha, c, v);
  const ring = `<circle class="cw-ring" cx="${at(winner)}" cy="${up(gains[winner])}" r="9"/>`
    + `<text x="${at(winner)}" y="${+up(gains[winner]) - 15}" text-anchor="middle">best</text>`;
  const mark = `<svg x="${at(gamma)}" y="${up(gains[gamma])}" class="cw-here">`
    + '<rect x="-6" y="-6" width="12" height="12"/></svg>';
  return '<svg role="img" aria-label="Curve of how many times as fast, over the number of '
    + `guesses; the table has the numbers" height="${HIGH + 28}">`
    + [...grid, plain, ...parts, ...dots, ...names, ring, mark].join("") + "</svg>";
}

// The numbers of the curve, one row a gamma.
export function table(alpha, gamma, c, v) {
  const winner = best(alpha, c, v);
  const rows = Array.from({ length: v.length - 1 }, (_, g) => {
    const note = [g === winner ? "best" : "", g === gamma ? "chosen" : ""].filter(Boolean);
    return `<tr><th scope="row">${g}</th>`
      + [two(tokens(alpha, g)), two(passes(g, c, v)), two(speedUp(alpha, g, c, v)),
        note.join(", ")].map((cell) => `<td>${cell}</td>`).join("") + "</tr>";
  });
  const heads = ["γ", "words a round", "passes a round", "times as fast", "note"];
  return `<thead><tr>${heads.map((h) => `<th scope="col">${h}</th>`).join("")}</tr></thead>`
    + `<tbody>${rows.join("")}</tbody>`;
}

const KEYS = 'data-lm-suppress-shortcuts="true"'; // or JupyterLab takes the arrow keys for itself
const SLIDERS = { // state: what the reader sees, the largest value, the step
  alpha: ["α, accepted / tested", 1, 0.01], c: ["c, cost of a guess", 1, 0.01],
  gamma: ["γ, guesses a round", 0, 1] };

function skeleton(ways, most) {
  const slider = ([key, [word, max, step]]) => `<span>${word}</span><span><input type="range" `
    + `min="0" max="${max || most}" step="${step}" data-key="${key}" aria-label="${word}" ${KEYS}>`
    + "<output></output></span>";
  const options = Object.keys(ways).map(safe).map((way) => `<option>${way}</option>`);
  return `<div class="cw-sliders cw-single">${Object.entries(SLIDERS).map(slider).join("")}</div>
    <p class="cw-row"><label>v, a pass over n positions <select ${KEYS}>${options.join("")}</select>
    </label><button type="button" ${KEYS}>back to the start</button></p>
    <p class="cw-say" aria-live="polite"></p><p class="cw-title"></p><div class="cw-plot"></div>
    <p class="cw-below">γ, guesses a round</p>
    <details><summary ${KEYS}>the numbers as a table</summary><div class="cw-wide">
    <table class="cw-table" aria-label="numbers"></table></div></details>`;
}

function draw(root, { alpha, gamma, c, way, ways }) {
  const find = (what) => root.querySelector(what), v = ways[way], values = { alpha, gamma, c };
  for (const input of root.querySelectorAll("input")) {
    const value = values[input.dataset.key];
    input.value = value;
    input.nextSibling.textContent = input.dataset.key === "gamma" ? value : two(value);
    input.setAttribute("aria-valuetext", input.nextSibling.textContent);
  }
  find("select").value = way;
  find(".cw-title").textContent = `${two(speedUp(alpha, gamma, c, v))} times as fast`;
  find(".cw-plot").innerHTML = curve(alpha, gamma, c, v);
  find(".cw-say").textContent = `${say(alpha, gamma, c, v)} (v(${gamma + 1}) = `
    + `${two(v[gamma + 1])})`;
  find("table").innerHTML = table(alpha, gamma, c, v);
}

function render({ model, el }) {
  const keys = ["alpha", "c", "gamma", "way"], ways = model.get("ways");
  const read = () => ({ ways, ...Object.fromEntries(keys.map((key) => [key, model.get(key)])) });
  const root = document.createElement("div"), first = read(), show = () => draw(root, read());
  const set = (values) => {
    keys.forEach((key) => key in values && model.set(key, values[key]));
    model.save_changes();
  };
  [root.className, root.innerHTML] = ["cw cw-gain", skeleton(ways, ways[first.way].length - 2)];
  root.addEventListener("input", ({ target }) => {
    if (target.dataset.key) set({ [target.dataset.key]: Number(target.value) });
  });
  root.querySelector("select").addEventListener("change", (event) => {
    set({ way: event.target.value });
  });
  root.querySelector("button").addEventListener("click", () => set(first));
  for (const key of keys) model.on(`change:${key}`, show);
  el.replaceChildren(root);
  show();
}

export default { render };
