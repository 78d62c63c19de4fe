// The explorers' arithmetic against cases that tests/test_widgets.py makes with course.
// CASES is the file of cases, WIDGETS the folder of the modules (a copy with a planted fault, say).
import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.env.WIDGETS ? pathToFileURL(`${process.env.WIDGETS}/`)
  : new URL("../course/widgets/", import.meta.url);
const source = (name) => readFileSync(new URL(name, folder), "utf8");
// as a data: URL the text is a module on every Node, and can import nothing, as on the page
const load = (name) => import(`data:text/javascript,${encodeURIComponent(source(name))}`);
const pq = await load("pq.js"), stepper = await load("stepper.js");
const gain = await load("gain.js"), mask = await load("mask.js");
const cases = JSON.parse(readFileSync(process.env.CASES, "utf8"));
const COLUMNS = ["round", "position", "guess", "p", "q", "u", "verdict", "written"];

function close(got, wanted, what) {
  if (wanted === null || got === null) return assert.equal(got, wanted, what);
  if (Array.isArray(wanted)) {
    assert.equal(got.length, wanted.length, what);
    return wanted.forEach((v, i) => close(got[i], v, `${what}[${i}]`));
  }
  if (typeof wanted !== "number") return assert.equal(got, wanted, what);
  return assert.ok(Math.abs(got - wanted) < 1e-12, `${what}: ${got} is not ${wanted}`);
}

test("split is what course says", () => {
  for (const { p, q, rules, ...wanted } of cases.split) {
    const got = pq.split(p, q);
    for (const [name, v] of Object.entries(wanted)) close(got[name], v, `${name} ${p} ${q}`);
  }
});

test("emitted is the exact law of each rule", () => {
  for (const { p, q, rules } of cases.split) {
    assert.deepEqual(Object.keys(pq.RULES).sort(), Object.keys(rules).sort());
    for (const [rule, { law, distance }] of Object.entries(rules)) {
      const got = pq.emitted(p, q, rule);
      close(got.law, law, `${rule} of ${p} | ${q}`);
      close(got.distance, distance, `distance of ${rule} of ${p} | ${q}`);
    }
    close(pq.emitted(p, q).law, p, "the right rule");
  }
});

test("rescale keeps a law a law, and the others in proportion", () => {
  for (const { p } of cases.split) {
    for (const value of [0, 0.25, 1]) {
      p.forEach((v, i) => {
        const law = pq.rescale(p, i, value);
        close(law[i], value, "the moved entry");
        close(law.reduce((a, b) => a + b, 0), 1, "the sum");
        law.forEach((a, j) => law.forEach((b, k) => {
          if (j !== i && k !== i && v < 1 - 1e-9) close(a * p[k], b * p[j], "proportion");
        }));
      });
    }
  }
});

test("trace is course.trace on the same coins", () => {
  for (const { rows, ...state } of cases.trace) {
    const got = stepper.trace(state), what = JSON.stringify(state);
    assert.equal(got.length, rows.length, what);
    rows.forEach((row, i) => COLUMNS.forEach((c) => close(got[i][c], row[c], `${c} ${i} ${what}`)));
  }
});

test("frames show one thing more each time, and end at the trace", () => {
  for (const { rows, text, ...state } of cases.trace) {
    const names = state.target.map((_, x) => `w${x}`), list = stepper.frames({ ...state, names });
    list.at(-1).rows.forEach((row, i) => COLUMNS.forEach((c) => close(row[c], rows[i][c], c)));
    for (const [k, { rows: known, say }] of list.entries()) {
      assert.ok(say && !/undefined|null|NaN/.test(say), say);
      known.forEach((row, i) => COLUMNS.forEach((c) => {
        const early = row[c] === null || (row[c] === "rejected" && rows[i][c] === "replaced");
        if (!early) close(row[c], rows[i][c], `${c} of row ${i} in frame ${k}`);
      }));
    }
    const length = Math.max(...rows.map((row) => row.position)) + 1;
    const slots = stepper.slots(state, list.at(-1).rows, length).slice(0, text.length);
    assert.deepEqual(slots.map((slot) => slot.token), text);
  }
});

test("too few coins are refused", () => {
  const state = { ...cases.trace.find((c) => c.rows.length > 1), coins: [0.5] };
  assert.throws(() => stepper.trace(state), /coins are used up/);
});

test("gain is course.gain on the same numbers", () => {
  for (const { alpha, gamma, c, v, ...wanted } of cases.gain) {
    const what = JSON.stringify({ alpha, gamma, c, v });
    close(gain.tokens(alpha, gamma), wanted.tokens, `tokens ${what}`);
    close(gain.speedUp(alpha, gamma, c, v), wanted.speed, `speed ${what}`);
    assert.equal(gain.best(alpha, c, v), wanted.best, `best ${what}`);
  }
});

test("gain says and shows what it computes", () => {
  for (const { alpha, gamma, c, v, speed, best } of cases.gain) {
    const said = gain.say(alpha, gamma, c, v), rows = gain.table(alpha, gamma, c, v);
    assert.doesNotMatch(said + rows + gain.curve(alpha, gamma, c, v), /undefined|null|NaN/);
    assert.ok(speed.toFixed(2) === "1.00" || said.includes(`${speed.toFixed(2)} times`), said);
    assert.equal(said.includes("pays"), best === 0, said);
    assert.equal(said.includes("slower"), speed < 0.995, said);
    assert.equal(rows.match(/best/g).length, 1);
    assert.ok(new RegExp(`scope="row">${best}</th>.*?best`).test(rows), rows);
  }
});

test("mask is course.attention on the same vectors", () => {
  for (const { weights, output, moves, ...state } of cases.mask) {
    const x = state.tokens.map((token) => state.vectors[token]), what = JSON.stringify(state);
    close(mask.weights(x, state.causal), weights, `weights ${what}`);
    close(mask.attention(x, state.causal), output, `output ${what}`);
    close(mask.moves(state), moves, `moves ${what}`);
  }
});

test("mask says which rows moved, and which have seen the answer", () => {
  const list = (text) => (text ? text.match(/\d+/g).map(Number) : []);
  for (const state of cases.mask) {
    const said = mask.say(state), moves = mask.moves(state), rows = [...moves.keys()];
    const changed = rows.filter((i) => state.tokens[i] !== state.start[i]), first = changed[0];
    assert.doesNotMatch(said + mask.grid(state) + mask.table(state), /undefined|null|NaN/);
    const hidden = state.causal ? (rows.length * (rows.length - 1)) / 2 : 0;
    assert.equal(mask.grid(state).split("cw-hidden").length - 1, hidden);
    if (first === undefined) {
      assert.ok(said.startsWith("This is the text at the start") && moves.every((m) => m === 0));
      continue;
    }
    assert.deepEqual(list(said.match(/^Places? ([\d, and]+) w/)[1]), changed, said);
    if (state.causal) assert.ok(moves.slice(0, first).every((m) => m === 0), said);
    const still = list(said.match(/ows? ([\d, and]+) (?:is|are) exactly/)?.[1]);
    assert.deepEqual(still, rows.filter((i) => moves[i] === 0), said);
    const moved = said.includes("Every row moves") ? rows
      : list(said.match(/ows? ([\d, and]+) moves?\./)?.[1]);
    assert.deepEqual(moved, rows.filter((i) => moves[i] > 1e-12), said);
    const judges = changed.filter((j) => j > 0).map((j) => j - 1);
    const named = list(said.match(/Rows? ([\d, and]+) judges? place/)?.[1]);
    assert.deepEqual(named, state.causal && judges.length > 1 ? [] : judges, said);
    assert.equal(said.includes("now seen"), !state.causal && judges.length > 0, said);
    const notes = moves.map((move) => mask.verdict(move).join(" "));
    assert.equal(notes.filter((note) => note === "exactly as before").length, still.length);
    assert.equal(notes.filter((note) => note.startsWith("moved by")).length, moved.length);
  }
});

test("modules render and import nothing", () => {
  for (const [name, module] of Object.entries({ "pq.js": pq, "stepper.js": stepper,
    "gain.js": gain, "mask.js": mask })) {
    assert.equal(typeof module.default.render, "function");
    assert.doesNotMatch(source(name), /^\s*import\s|\bimport\(|https?:|fetch\(/m);
    assert.doesNotMatch(source(name), /setInterval|setTimeout|requestAnimationFrame/);
  }
});
