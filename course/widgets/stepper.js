// The stepper of lesson 06: one generation, move by move, driven by a list of coins.
// trace, frames and slots are pure; Node tests them against course.trace on the same coins. A model
// is a table: row x is the law after token x. No import: a page may load this text from a Blob.

const DUST = 1e-12; // less than this is rounding, as in course.speculative
const scaled = (law, total = law.reduce((a, b) => a + b, 0)) => law.map((v) => v / total);
const two = (v) => v.toFixed(2);
const safe = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// The first token at which the running sum of the law exceeds the coin.
export function sample(law, coin) {
  let edge = 0;
  const x = scaled(law).findIndex((v) => (edge += v) > coin);
  return x >= 0 ? x : law.findLastIndex((v) => v > 0); // the sum may end at 1 - 1e-16
}

// What p has above q, scaled to add up to 1; null where nothing is left but rounding.
export function residual(p, q) {
  const owed = p.map((v, i) => Math.max(v - q[i], 0));
  return Math.max(...owed) > DUST ? scaled(owed) : null;
}

// The rows of one round after text. Beside the columns of course.trace a guess has its coin and
// both laws; a token that was not guessed has the law and the coin that gave it.
function round({ target, draft, gamma }, text, flip) {
  const rows = [], empty = { u: null, verdict: "not looked at", token: null };
  let last = text.at(-1);
  for (let i = 0; i < gamma; i++) {
    const both = [scaled(target[last]), scaled(draft[last])], coin = flip();
    last = sample(both[1], coin);
    rows.push({ ...empty, guess: last, p: both[0][last], q: both[1][last], coin, both });
  }
  for (const row of rows) {
    const law = residual(...row.both);
    row.u = flip();
    // a rejection with nothing owed is rounding: the token is kept, as in course.speculative
    if (row.u * row.q < row.p || law === null) {
      Object.assign(row, { verdict: "kept", token: row.guess });
    } else {
      const drawn = flip();
      Object.assign(row, { verdict: "replaced", law, drawn, token: sample(law, drawn) });
      return rows;
    }
  }
  const law = scaled(target[last]), drawn = flip(), token = sample(law, drawn);
  const bonus = { ...empty, verdict: "bonus", guess: null, p: law[token], q: null };
  return [...rows, { ...bonus, law, drawn, token }];
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
      const position = start + i, written = position < end ? row.token : null;
      rows.push({ ...row, round: turn, position, written });
    });
  }
  return rows;
}

// The sentence for a test, and for a token that was drawn, not guessed.
function judged({ position, guess, p, q, u, verdict }, word) {
  const [asked, answer] = verdict === "kept" ? ["Yes", "kept"] : ["No", "rejected"];
  return `Position ${position}: is u · q(x) = ${two(u)} · ${two(q)} = ${(u * q).toFixed(3)} less `
    + `than p(x) = ${p.toFixed(3)}? ${asked}: ${word(guess)} is ${answer}.`;
}

function drawn(row, word, rows) {
  const show = (law) => `(${law.map(two).join(", ")})`, law = show(row.law);
  const coin = `Coin ${two(row.drawn)} draws ${word(row.token)}.`;
  if (row.verdict === "replaced") {
    return `Here p = ${show(row.both[0])} and q = ${show(row.both[1])}. What p has above q, `
      + `scaled, is ${law}. ${coin}`
      + (row === rows.at(-1) ? "" : ` What was guessed after ${word(row.guess)} is not looked at.`);
  }
  return (rows.length === 1 ? `No guesses: one target pass gives one law, ${law}. ` : "All guesses "
    + `are kept, so the last law of the same pass, ${law}, gives one token more. `) + coin;
}

// The moves of one round: the rows known after each, and its sentence.
function moves(rows, word) {
  const guesses = rows.filter((row) => row.guess !== null);
  const words = guesses.map((row) => word(row.guess)).join(", then ");
  const hide = (row) => ({ ...row, u: null, verdict: null, written: null });
  const tests = guesses.filter((row) => row.u !== null).map((row, i) => [[...guesses.slice(0, i),
    row.verdict === "kept" ? row : { ...row, verdict: "rejected", written: null },
    ...guesses.slice(i + 1).map(hide)], judged(row, word)]);
  const coins = guesses.map((row) => two(row.coin)).join(", ");
  const opening = [[guesses.map((row) => ({ ...hide(row), p: null })),
    `Round ${rows[0].round}. The draft guesses ${words}. Coins: ${coins}.`], [guesses.map(hide),
    "One target pass over the text and the guesses gives p(x) for each guess, and one law more."]];
  const closing = [rows, drawn(rows.find((row) => row.law), word, rows)];
  return [...(guesses.length ? opening : []), ...tests, closing];
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
  const cut = all.some((row) => row.written !== row.token) ? "; what is more is cut off" : "";
  list.at(-1).say += ` Now ${state.n_new} new tokens are written${cut}.`;
  return list;
}

// The text as one slot a position: its token and what became of it, for the rows known so far.
export function slots({ prompt, n_new }, rows, length) {
  const list = Array.from({ length }, () => ({ token: null, kind: "" }));
  prompt.forEach((token, i) => { list[i] = { token, kind: "prompt" }; });
  for (const { position, guess, verdict, written } of rows) {
    const judged = ["kept", "replaced", "bonus"].includes(verdict);
    const cut = judged && position >= prompt.length + n_new;
    const kind = { null: "guess", "not looked at": "dropped" }[verdict] ?? verdict;
    list[position] = { token: written ?? guess, kind: cut ? "cut" : kind };
  }
  return list;
}

const word = (x, names) => (x === null ? "–" : safe(names[x]));

function table(rows, known, names) {
  const number = (v) => (v === null ? "–" : two(v));
  // what is not known yet is there, but unseen: no row and no column moves from step to step
  const cell = (seen, text) => `<td>${seen ? text : `<span class="cw-later">${text}</span>`}</td>`;
  return rows.map((row, i) => {
    const now = known[i] ?? { verdict: null }, done = ![null, "rejected"].includes(now.verdict);
    const seen = i < known.length, first = row.round !== rows[i - 1]?.round;
    return `<tr class="${first ? "cw-first" : ""}" aria-hidden="${!seen}">`
      + cell(seen, first ? row.round : "") + cell(seen, row.position)
      + cell(seen, word(row.guess, names)) + cell(done || now.p != null, number(row.p))
      + cell(seen, number(row.q)) + cell(done || now.u != null, number(row.u))
      + cell(now.verdict, now.verdict ?? row.verdict) + cell(done, word(row.written, names))
      + "</tr>";
  }).join("");
}

const strip = (list, names) => list.map(({ token, kind }, i) => `<li `
  + `class="cw-${kind || "empty"}"><small>${i}</small>`
  + `<b>${token === null ? "&nbsp;" : word(token, names)}</b>`
  + `<small>${kind || "&nbsp;"}</small></li>`).join("");

function skeleton() {
  const columns = ["round", "position", "guess", "p(x)", "q(x)", "u", "verdict", "written"];
  const keys = 'data-lm-suppress-shortcuts="true"'; // or JupyterLab takes some keys for itself
  const button = (text) => `<button type="button" ${keys}>${text}</button>`;
  return `<p class="cw-row">${["back", "next", "new coins", "start"].map(button).join("")}
    <span class="cw-count"></span></p><div class="cw-box"><p class="cw-say" aria-live="polite"></p>
    <p class="cw-later" aria-hidden="true"></p></div><ol class="cw-strip" aria-label="text"></ol>
    <table class="cw-table cw-trace" aria-label="trace"><thead><tr>${columns.map((text) =>
    `<th scope="col">${text}</th>`).join("")}</tr></thead><tbody></tbody></table>`;
}

function draw(root, state, k, fresh) {
  const all = trace(state), list = frames(state), { rows, say } = list[k];
  const fill = (what, words) => { root.querySelector(what).innerHTML = words; };
  const length = Math.max(...all.map((row) => row.position)) + 1;
  const longest = list.reduce((a, b) => (b.say.length > a.say.length ? b : a));
  fill(".cw-say", safe(say));
  fill(".cw-box .cw-later", safe(longest.say)); // unseen, it keeps the place
  fill(".cw-count", `move ${k} of ${list.length - 1}`);
  fill(".cw-strip", strip(slots(state, rows, length), state.names));
  fill("tbody", table(all, rows, state.names));
  const idle = { back: k === 0, next: k === list.length - 1, start: k === 0 && !fresh };
  // aria-disabled, not disabled: a disabled button would drop the keyboard's place
  root.querySelectorAll("button").forEach((b) => { b.ariaDisabled = !!idle[b.textContent]; });
}

function render({ model, el }) {
  const read = () => Object.fromEntries(["target", "draft", "prompt", "gamma", "n_new", "coins",
    "names"].map((key) => [key, model.get(key)]));
  let first = read(), state = first, k = 0;
  const root = document.createElement("div"), show = () => draw(root, state, k, state !== first);
  const enough = { length: first.n_new * (2 * first.gamma + 1) }; // a round writes one at least
  const act = { "back": () => { k = Math.max(k - 1, 0); },
    "next": () => { k = Math.min(k + 1, frames(state).length - 1); },
    "new coins": () => { [state, k] = [{ ...first, coins: Array.from(enough, Math.random) }, 0]; },
    "start": () => { [state, k] = [first, 0]; } };
  [root.className, root.innerHTML] = ["cw cw-stepper", skeleton()];
  root.addEventListener("click", ({ target }) => {
    if (target.closest("button")) { act[target.textContent](); show(); }
  });
  model.on("change:coins", () => { first = state = read(); k = 0; show(); });
  el.replaceChildren(root);
  show();
}

export default { render };
