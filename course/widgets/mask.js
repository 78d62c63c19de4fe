// The mask explorer of lesson 03: change a word, see which rows of the attention move.
// weights, attention, moves, say are pure; Node tests them against course.attention. No import: a
// page may load this text from a Blob. Left out: learnt matrices for query, key and value, heads.

const DUST = 1e-12; // less than this is rounding, as in course.speculative
const two = (v) => v.toFixed(2);
const safe = (word) => String(word).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const sees = (causal, i, j) => !causal || j <= i; // may row i look at place j?

// The share that row i of x gives to each place; exactly 0 where the mask hides it.
export function weights(x, causal) {
  return x.map((query, i) => {
    const fit = (key) => key.reduce((sum, v, k) => sum + v * query[k], 0) / Math.sqrt(key.length);
    const scores = x.map((key, j) => (sees(causal, i, j) ? fit(key) : -Infinity));
    const most = Math.max(...scores), exps = scores.map((s) => Math.exp(s - most));
    const all = exps.reduce((a, b) => a + b, 0);
    return exps.map((e) => e / all);
  });
}

// Each row a mean of the rows of x, with its weights.
export const attention = (x, causal) => weights(x, causal).map((row) => x[0].map(
  (_, k) => row.reduce((sum, w, j) => sum + w * x[j][k], 0)));

// By how much each row of the output has moved since the start.
export function moves({ vectors, start, tokens, causal }) {
  const [before, after] = [start, tokens].map((t) => attention(t.map((x) => vectors[x]), causal));
  return after.map((row, i) => Math.max(...row.map((v, k) => Math.abs(v - before[i][k]))));
}

// One row of moves in words, in two lines.
export const verdict = (move) => (move === 0 ? ["exactly", "as before"]
  : move < DUST ? ["as before", "(rounding)"]
    : ["moved by", move < 0.005 ? "under 0.01" : two(move)]);

const where = (list, test) => list.map((_, i) => i).filter((i) => test(list[i], i));
const listed = (is) => `${is.slice(0, -1).join(", ")}${is.length > 1 ? " and " : ""}${is.at(-1)}`;
const named = (word, is) => `${word}${is.length > 1 ? "s" : ""} ${listed(is)}`;
const upper = (text) => text[0].toUpperCase() + text.slice(1);

// Which rows stay and which move, as a clause each.
function told(rows) {
  const groups = [["exactly as before", where(rows, (m) => m === 0)],
    ["as before but for rounding", where(rows, (m) => m > 0 && m < DUST)]];
  const clauses = groups.filter(([, is]) => is.length).map(([what, is]) => (
    `${named("row", is)} ${is.length > 1 ? "are" : "is"} ${what}`));
  const moved = where(rows, (m) => m >= DUST);
  if (moved.length === rows.length) return "Every row moves.";
  if (moved.length) clauses.push(`${named("row", moved)} move${moved.length > 1 ? "" : "s"}`);
  return `${upper(clauses.join("; "))}.`;
}

// What the rows that judge a changed place have seen: row t judges place t + 1.
function judged(changed, causal) {
  const places = changed.filter((j) => j > 0), many = places.length > 1;
  const who = `${named("Row", places.map((j) => j - 1))} judge${many ? "" : "s"} `
    + (places.length ? named("place", places) : "");
  if (!places.length) return "No row judges place 0.";
  if (causal && many) return "No row has seen the place that it judges.";
  return who + (causal ? ", and has not seen it." : many ? ", and each has now seen its answer."
    : ", and has now seen the answer.");
}

// The sentences that say what was changed and what came of it.
export function say(state) {
  const { start, tokens, causal } = state;
  const changed = where(tokens, (x, i) => x !== start[i]);
  if (!changed.length) {
    return "This is the text at the start: choose another word at any place. "
      + (causal ? "Each row sees its own place and those before it."
        : "Without the mask each row sees every place, the one that it judges too.");
  }
  return `${upper(named("place", changed))} ${changed.length > 1 ? "were" : "was"} changed. `
    + `${told(moves(state))} ${judged(changed, causal)}`;
}

const HIGH = 38; // pixels of a row of the picture
const short = (word) => safe(word.length > 7 ? `${word.slice(0, 6)}…` : word);
// a weight in words: seven columns or more have no room for the leading 0
const brief = (w, n) => (n < 7 ? two(w) : w > 0.995 ? "1" : two(w).slice(1));

const text = (x, y, words, more = "") => `<text x="${x}" y="${y}" ${more}>${words}</text>`;
const MIDDLE = 'text-anchor="middle"', RIGHT = 'text-anchor="end"', BOLD = 'class="cw-bold"';

// The number of place j above its column, wide percent each; white on black where it was changed.
const head = (j, wide, changed) => (!changed ? text(`${wide * (j + 0.5)}%`, -11, j, MIDDLE)
  : `<svg class="cw-chip" x="${wide * (j + 0.5)}%"><rect x="-10" y="-25" width="20" height="19" `
    + `rx="3"/>${text(0, -11, j, `${MIDDLE} class="cw-white"`)}</svg>`);

// The weight w of place j in row i, the darker the larger; null is hidden.
function cell(w, i, j, wide) {
  const [look, opacity] = w === null ? ["hidden", 1] : ["seen", (0.05 + 0.4 * w).toFixed(3)];
  return `<rect class="cw-${look}" x="${wide * j}%" y="${HIGH * i}" width="${wide}%" `
    + `height="${HIGH}" fill-opacity="${opacity}"/>` + text(`${wide * (j + 0.5)}%`,
    HIGH * (i + 0.5) + 4, w === null ? "×" : brief(w, Math.round(100 / wide)), MIDDLE);
}

// What stands right of row i: how far it has moved, with a black bar if it has.
const note = (move, i) => `<svg x="100%" class="cw-chip">` + (move < DUST ? ""
  : `<rect x="5" y="${HIGH * i + 3}" width="4" height="${HIGH - 6}"/>`) + verdict(move).map(
  (words, k) => text(13, HIGH * (i + 0.5) - 3 + 14 * k, words, move < DUST ? "" : BOLD)).join("")
  + "</svg>";

// The square of weights: a row for each place that looks, a column for each that is looked at.
export function grid({ names, vectors, start, tokens, causal }) {
  const wide = 100 / tokens.length, rows = moves({ vectors, start, tokens, causal });
  const square = weights(tokens.map((x) => vectors[x]), causal).map((row, i) => row.map((w, j) => (
    cell(sees(causal, i, j) ? w : null, i, j, wide))).join(""));
  const sides = tokens.map((x, i) => text(-8, HIGH * (i + 0.5) + 4, `${i} ${short(names[x])}`,
    `${RIGHT} ${x === start[i] ? "" : BOLD}`) + note(rows[i], i));
  return '<svg role="img" aria-label="Square of weights: which row looks at which place, and how '
    + `far each row has moved; the table has the numbers" height="${HIGH * tokens.length}">`
    + tokens.map((x, j) => head(j, wide, x !== start[j])).join("") + square.join("")
    + sides.join("") + "</svg>";
}

// The numbers of the picture, one row a place.
export function table(state) {
  const { names, vectors, tokens, causal } = state, rows = moves(state);
  const lines = weights(tokens.map((x) => vectors[x]), causal).map((row, i) => (
    `<tr><th scope="row">${i} ${safe(names[tokens[i]])}</th>`
    + row.map((w, j) => `<td>${sees(causal, i, j) ? brief(w, row.length) : "×"}</td>`).join("")
    + `<td>${rows[i] === 0 ? "0" : two(rows[i])}</td></tr>`));
  const heads = ["row", ...tokens.keys(), "moved by"].map((h) => `<th scope="col">${h}</th>`);
  return `<thead><tr>${heads.join("")}</tr></thead><tbody>${lines.join("")}</tbody>`;
}

const KEYS = 'data-lm-suppress-shortcuts="true"'; // or JupyterLab takes the arrow keys for itself

function skeleton(names, start) {
  const options = names.map((name, x) => `<option value="${x}">${safe(name)}</option>`).join("");
  const places = start.map((_, i) => `<label><span>place ${i}</span><select data-place="${i}" `
    + `aria-label="word at place ${i}" ${KEYS}>${options}</select><small></small></label>`);
  return `<div class="cw-places">${places.join("")}</div>
    <p class="cw-row"><label><input type="checkbox" ${KEYS}>causal mask</label>
    <button type="button" ${KEYS}>back to the start</button></p>
    <p class="cw-say" aria-live="polite"></p><div class="cw-panels"><div class="cw-picture">
    <p class="cw-title"></p><div class="cw-plot"></div><p class="cw-below">Down: the row that looks.
    Across: the place it looks at, with its weight. ×: hidden by the mask. On black: a changed
    place.</p></div><div><p class="cw-title">The numbers</p><div class="cw-wide">
    <table class="cw-table" aria-label="numbers"></table></div></div></div>`;
}

function draw(root, state) {
  const { names, start, tokens, causal } = state, find = (what) => root.querySelector(what);
  root.querySelectorAll("select").forEach((select, i) => {
    select.value = tokens[i];
    select.nextSibling.textContent = tokens[i] === start[i] ? "" : `was ${names[start[i]]}`;
  });
  find("input").checked = causal;
  const moved = moves(state).filter((m) => m >= DUST).length, all = tokens.length;
  find(".cw-title").textContent = moved ? `${moved} of ${all} rows moved` : "No row has moved";
  find(".cw-plot").innerHTML = grid(state);
  find("table").innerHTML = table(state);
  find(".cw-say").textContent = say(state);
}

function render({ model, el }) {
  const keys = ["names", "vectors", "start", "tokens", "causal"];
  const read = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
  const root = document.createElement("div"), first = read(), show = () => draw(root, read());
  const set = (key, value) => { model.set(key, value); model.save_changes(); };
  [root.className, root.innerHTML] = ["cw cw-mask", skeleton(first.names, first.start)];
  root.style.setProperty("--n", first.start.length); // few cells are not stretched
  root.addEventListener("change", ({ target }) => {
    if (target.type === "checkbox") set("causal", target.checked);
    else set("tokens", [...root.querySelectorAll("select")].map((one) => Number(one.value)));
  });
  root.querySelector("button").addEventListener("click", () => {
    set("tokens", first.start);
    set("causal", first.causal);
  });
  for (const key of ["tokens", "causal"]) model.on(`change:${key}`, show);
  el.replaceChildren(root);
  show();
}

export default { render };
