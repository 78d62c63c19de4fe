// The stepper of lesson 06: one generation, move by move, driven by a list of coins.
//
// trace, frames and slots are pure; Node tests trace against course.trace on the same coins: one coin
// a guess, one a test, one for the replacement or bonus. Both models are tables: row x is the law
// after token x. No import, no dependency: a page may load this text from a Blob. No autoplay.

const DUST = 1e-12; // less than this is rounding, as in course.speculative
const sum = (law) => law.reduce((total, v) => total + v, 0);
const scaled = (law) => { const total = sum(law); return law.map((v) => v / total); };
const two = (v) => v.toFixed(2);
const safe = (word) => String(word).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// The first token at which the running sum of the law exceeds the coin.
export function sample(law, coin) {
  let edge = 0;
  const x = scaled(law).findIndex((v) => (edge += v) > coin);
  return x >= 0 ? x : law.reduce((last, v, i) => (v > 0 ? i : last), 0); // it may end at 1 - 1e-16
}

// What p has above q, scaled to add up to 1; null where nothing is left but rounding.
export function residual(p, q) {
  const owed = p.map((v, i) => Math.max(v - q[i], 0));
  return Math.max(...owed) > DUST ? scaled(owed) : null;
}

// The rows of one round after text. Beside the eight columns of course.trace a row carries the coin
// of the guess, and law, drawn, token: what a replacement or bonus was drawn from, and by which coin.
function round({ target, draft, gamma }, text, flip) {
  const rows = [], owed = [], empty = { u: null, verdict: "not looked at", token: null };
  let last = text.at(-1);
  for (let i = 0; i < gamma; i++) {
    const [p, q, coin] = [scaled(target[last]), scaled(draft[last]), flip()];
    last = sample(q, coin);
    rows.push({ ...empty, guess: last, p: p[last], q: q[last], coin });
    owed.push(residual(p, q));
  }
  for (const [i, row] of rows.entries()) {
    row.u = flip();
    // a rejection with nothing owed is rounding: the token is kept, as in course.speculative
    const kept = row.u * row.q < row.p || owed[i] === null;
    Object.assign(row, kept ? { verdict: "kept", token: row.guess }
      : { verdict: "replaced", law: owed[i], drawn: flip() });
    if (!kept) row.token = sample(row.law, row.drawn);
    if (!kept) return rows;
  }
  const law = scaled(target[last]), drawn = flip(), token = sample(law, drawn);
  return [...rows, { ...empty, verdict: "bonus", guess: null, p: law[token], q: null, law, drawn, token }];
}

// The rows of a whole generation, cut at n_new tokens: the rows of course.trace.trace.
export function trace(state) {
  const text = [...state.prompt], end = text.length + state.n_new, rows = [];
  let used = 0;
  const flip = () => {
    if (used === state.coins.length) throw new Error(`all ${used} coins are used up: give more`);
    return state.coins[used++];
  };
  for (let turn = 1; text.length < end; turn++) {
    const start = text.length;
    round(state, text, flip).forEach((row, i) => {
      if (row.token !== null) text.push(row.token);
      const written = start + i < end ? row.token : null;
      rows.push({ ...row, round: turn, position: start + i, written });
    });
  }
  return rows;
}

// The sentence for a test, and for a token that was not guessed but drawn.
function judged(row, word) {
  return `Position ${row.position}: is u · q(x) = ${two(row.u)} · ${two(row.q)} = `
    + `${(row.u * row.q).toFixed(3)} less than p(x) = ${row.p.toFixed(3)}? `
    + `${row.verdict === "kept" ? "Yes" : "No"}: ${word(row.guess)} is `
    + `${row.verdict === "kept" ? "kept" : "rejected"}.`;
}

function drawn(row, word, rows) {
  const law = `(${row.law.map(two).join(", ")})`, end = `${two(row.drawn)} draws ${word(row.token)}`;
  if (row.verdict === "replaced") {
    return `The replacement comes from what p has above q, scaled: ${law}. Coin ${end}.`
      + (row === rows.at(-1) ? "" : ` What was guessed after ${word(row.guess)} is not looked at.`);
  }
  if (rows.length > 1) {
    return `All guesses are kept, so the last law of the same pass, ${law}, gives one token more. `
      + `Coin ${end}.`;
  }
  return `No guesses: one target pass gives one law, ${law}. Coin ${end}.`;
}

// The moves of one round: what each adds to the rows, and its sentence.
function moves(rows, word) {
  const guesses = rows.filter((row) => row.guess !== null), tested = guesses.filter((row) => row.u !== null);
  const hide = (row) => ({ ...row, u: null, verdict: null, written: null });
  const list = tested.map((row, i) => [[...guesses.slice(0, i),
    row.verdict === "kept" ? row : { ...row, verdict: "rejected", written: null },
    ...guesses.slice(i + 1).map(hide)], judged(row, word)]);
  if (guesses.length) {
    list.unshift([guesses.map((row) => ({ ...hide(row), p: null })), `Round ${rows[0].round}. The `
      + `draft guesses ${guesses.map((row) => word(row.guess)).join(", then ")}. Coins: `
      + `${guesses.map((row) => two(row.coin)).join(", ")}.`],
    [guesses.map(hide), "One target pass over the text and the guesses gives p(x) for each guess, "
      + "and one law more."]);
  }
  return [...list, [rows, drawn(rows.find((row) => row.law), word, rows)]];
}

// The whole generation: every move with all rows known by then; null is what is not known yet.
export function frames(state) {
  const all = trace(state), word = (x) => state.names[x];
  const list = [{ rows: [], say: "Nothing is written yet. Press “next”." }];
  for (let turn = 1; turn <= (all.at(-1)?.round ?? 0); turn++) {
    const before = all.filter((row) => row.round < turn);
    for (const [rows, say] of moves(all.filter((row) => row.round === turn), word)) {
      list.push({ rows: [...before, ...rows], say });
    }
  }
  const cut = all.some((row) => row.token !== null && row.written === null);
  list.at(-1).say += ` ${state.n_new} new tokens are written`
    + (cut ? ", and what goes beyond them is cut off." : ".");
  return list;
}

// The text as one slot a position: its token and what became of it, for the rows known so far.
export function slots({ prompt, n_new }, rows, length) {
  const list = Array.from({ length }, (_, i) => (
    i < prompt.length ? { token: prompt[i], kind: "prompt" } : { token: null, kind: "" }));
  for (const { position, guess, verdict, written } of rows) {
    const cut = position >= prompt.length + n_new && !["not looked at", "rejected", null].includes(verdict);
    list[position] = { token: written ?? guess, kind: cut ? "cut" : verdict ?? "guess" };
  }
  return list;
}

function table(rows, known, names) {
  const cell = (shown, text) => `<td${shown ? "" : ' class="cw-later"'}>${text}</td>`;
  const word = (x) => (x === null ? "–" : safe(names[x])), number = (v) => (v === null ? "–" : two(v));
  return rows.map((row, i) => {
    const now = known[i] ?? { verdict: null }, done = now.verdict !== null && now.verdict !== "rejected";
    const first = row.round !== rows[i - 1]?.round;
    return `<tr class="${known[i] ? "" : "cw-later"} ${first ? "cw-first" : ""}">`
      + cell(true, first ? row.round : "") + cell(true, row.position) + cell(true, word(row.guess))
      + cell(done || now.p != null, number(row.p)) + cell(true, number(row.q))
      + cell(done || now.u != null, number(row.u)) + cell(now.verdict, now.verdict ?? row.verdict)
      + cell(done, word(row.written)) + "</tr>";
  }).join("");
}

function laws(name, model, names) {
  const head = names.map((word) => `<th scope="col">${safe(word)}</th>`).join("");
  return `<table class="cw-table"><caption>${name}</caption><tr><th scope="col">after</th>${head}</tr>`
    + model.map((law, x) => `<tr><th scope="row">${safe(names[x])}</th>`
      + law.map((v) => `<td>${two(v)}</td>`).join("") + "</tr>").join("") + "</table>";
}

function strip(list, names) {
  return list.map(({ token, kind }, i) => `<li class="cw-${kind.replaceAll(" ", "-") || "empty"}">`
    + `<small>${i}</small><b>${token === null ? "&nbsp;" : safe(names[token])}</b>`
    + `<small>${kind || "&nbsp;"}</small></li>`).join("");
}

const COLUMNS = ["round", "position", "guess", "p(x)", "q(x)", "u", "verdict", "written"];

function render({ model, el }) {
  const keys = ["target", "draft", "prompt", "gamma", "n_new", "coins", "names"];
  const read = () => Object.fromEntries(keys.map((key) => [key, model.get(key)]));
  let first = read(), state = first, k = 0;
  const root = document.createElement("div"), find = (what) => root.querySelector(what);
  root.className = "cw cw-stepper";
  root.innerHTML = `<p class="cw-row">${["start", "back", "next", "new coins"].map((word) =>
    `<button type="button">${word}</button>`).join("")}<span class="cw-count"></span></p>
    <p class="cw-say" aria-live="polite"></p><ol class="cw-strip" aria-label="the text"></ol>
    <table class="cw-table cw-trace" aria-label="the trace"><thead><tr>${COLUMNS.map((word) =>
    `<th scope="col">${word}</th>`).join("")}</tr></thead><tbody></tbody></table>
    <details><summary>the two models</summary><div class="cw-panels">
    ${laws("target p", first.target, first.names)}${laws("draft q", first.draft, first.names)}</div>
    </details>`;
  const draw = () => {
    const all = trace(state), list = frames(state), { rows, say } = list[k];
    const length = Math.max(...all.map((row) => row.position)) + 1;
    find(".cw-say").textContent = say;
    find(".cw-count").textContent = `move ${k} of ${list.length - 1}`;
    find(".cw-strip").innerHTML = strip(slots(state, rows, length), state.names);
    find("tbody").innerHTML = table(all, rows, state.names);
    const ends = { start: k === 0 && state === first, back: k === 0, next: k === list.length - 1 };
    // aria-disabled, not disabled: a disabled button would drop the keyboard's place
    for (const b of root.querySelectorAll("button")) b.ariaDisabled = String(!!ends[b.textContent]);
  };
  const enough = first.n_new * (2 * first.gamma + 1); // every round writes one token at least
  const fresh = () => ({ ...first, coins: Array.from({ length: enough }, Math.random) });
  const act = { start: () => [state, k] = [first, 0], back: () => k -= k > 0,
    next: () => k += k < frames(state).length - 1, "new coins": () => [state, k] = [fresh(), 0] };
  for (const button of root.querySelectorAll("button")) {
    button.addEventListener("click", () => { act[button.textContent](); draw(); });
  }
  model.on("change:coins", () => { first = state = read(); k = 0; draw(); });
  el.replaceChildren(root);
  draw();
}

export default { render };
