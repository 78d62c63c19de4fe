// Where a problem asks for a number, a list or a table, the reader types it and gets the reason:
// the rules and the sentences of course/marking/values.py, which a test compares on every question.
// What a question needs stands in its box (docs/asked.py). Nothing is stored, nothing is sent, and
// without scripts the box keeps its twin. `parse` and `judge` know no page: Node can run them.

// {value: [...]} for what was typed, row by row; {blank} or {unclear: a sentence}; {} for the rest.
function parse(text, shape) {
  const plain = text.replace(/[\u2212\u2013]/g, "-").replace(/[^\S\n]+/g, " ").trim()
    .replace(/\s*\/\s*/g, "/").replace(/ %/g, "%");
  const blanks = ["?", "...", "\u2026"];
  if (!plain || plain.split(/[\s,;()[\]]+/).some((word) => blanks.includes(word))) {
    return { blank: true };
  }
  if (!shape.length) return scalar(plain);
  const table = (shape.length === 1 ? [plain] : rows(plain)).map(list);
  const [width, height] = [shape.at(-1), shape.length === 1 ? 1 : shape[0]];
  const fits = table.length === height && table.every((row) => row.length === width);
  return fits && table.flat().every(Number.isFinite) ? { value: table.flat() } : {};
}

// 0.25 or .25 or 1e-3, 1/4, 25%; NaN for what is none of these
function numeral(word) {
  const parts = word.replace(/%$/, "").split("/");
  const looks = (part) => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(part);
  if (parts.length > 2 || !parts.every(looks)) return NaN;
  const value = parts.length === 2 ? Number(parts[0]) / Number(parts[1]) : Number(parts[0]);
  return word.endsWith("%") ? value / 100 : value;
}

// One number may have a comma for its decimal sign, or thousands that are set apart.
function scalar(plain) {
  const thousands = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(plain);
  if (thousands && /^[^,.]*,[^,.]*$/.test(plain)) {
    const [whole, part] = [plain.replace(",", ""), plain.replace(",", ".")];
    return { unclear: `${plain} may be ${whole} or ${part}. Write it in one of these two ways.` };
  }
  const spaced = /^[+-]?\d{1,3}([ _]\d{3})+(\.\d+)?$/.test(plain);
  const word = thousands ? plain.replaceAll(",", "") : spaced ? plain.replace(/[ _]/g, "")
    : plain.replace(/^([^,.]*),(\d[^,.]*)$/, "$1.$2");
  const value = numeral(word);
  return Number.isFinite(value) ? { value: [value] } : {};
}

// "1, 0, 2" or "[1 0 2]", with no decimal commas: they part the numbers
function list(text) {
  const bare = text.trim().replace(/^\[([^]*)\]$|^\(([^]*)\)$/, "$1$2").trim();
  return bare.replace(/\s*[,;]$/, "").split(/\s*[,;]\s*|\s+/).map(numeral);
}

// "[[1, 2], [3, 4]]", or "1, 2" and "3, 4" on lines of their own
function rows(text) {
  if (!/[[(]/.test(text)) return text.split(/[\n;]/).filter((row) => row.trim());
  const flat = text.replace(/\s+/g, " ").replace(/^[[(] ?([[(].*[\])]) ?[\])]$/, "$1");
  return flat.replace(/([\])])[ ,;]*(?=[[(])/g, "$1\n").split("\n");
}

// {kind, head, said} for what was typed: values.judged, sentence by sentence
function judge(question, text) {
  const { right, slack, wrong } = question;
  const { blank, unclear, value } = parse(text, question.shape);
  const verdict = (kind, head, said) => ({ kind, head, said });
  if (blank) return verdict("no answer yet", "", "No answer yet: type your answer in the box.");
  if (!value) {
    const typed = text.trim().length <= 60 ? text.trim() : `${text.trim().slice(0, 57)}...`;
    return verdict("wrong-type", "", unclear ?? `${typed} is not ${looks(question.shape)}.`);
  }
  const gap = (other) => Math.max(0, ...value.map((part, i) => Math.abs(part - other[i])));
  if (gap(right) <= slack) return verdict("right", "Right.", question.reason);
  let [least, nearest] = [Infinity, null];
  for (const idea of wrong) {
    if (gap(idea.value) < least) [least, nearest] = [gap(idea.value), idea];
  }
  if (least <= slack) return verdict("wrong", "Not yet.", nearest.reason);
  return verdict("unknown", "Not yet.", clue(question, value));
}

function looks(shape) {
  if (!shape.length) return "a number. Give one number, such as 0.25";
  if (shape.length === 1) return `a list of ${shape[0]} numbers`;
  return `a table of ${shape[0]} rows with ${shape[1]} numbers each`;
}

// for an answer that no known idea gives: its size, or the first place where it is off
function clue({ between, outside, hint, right, shape, slack }, value) {
  if (between && value.some((part) => part < between[0] || part > between[1])) return outside;
  if (hint !== undefined) return hint;
  if (!shape.length) return "It is none of the usual wrong values: is it a slip in the sums?";
  const place = value.findIndex((part, i) => Math.abs(part - right[i]) > slack);
  const where = shape.length === 1 ? `place ${place}`
    : `row ${Math.floor(place / shape[1])}, column ${place % shape[1]}`;
  return `It first differs at ${where}, counted from 0.`;
}

const HOW = ["One number, such as 0.25, 1/4 or 25 %.",
  "Numbers with commas between them. A decimal sign is a point.",
  "One line for each row, with commas between the numbers. A decimal sign is a point."];

// a new part of the page: tag, attributes, text with `code` set as code
function part(tag, attributes = {}, text = "") {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...text.split("`").map((piece, i) => {
    if (i % 2 === 0) return piece;
    const code = document.createElement("code");
    code.textContent = piece;
    return code;
  }));
  return made;
}

// the form in place of the twin; a table has a field of several lines, where Enter begins the next
function ask(box) {
  const question = JSON.parse(box.dataset.question);
  const [id, size] = [`number-${question.name}`, question.shape.length];
  const label = part("label", { for: id }, question.text);
  const field = part(size === 2 ? "textarea" : "input", {
    id, autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: 400,
    "aria-describedby": `${id}-how`, ...(size === 0 ? { inputmode: "decimal" } : {}),
    ...(size === 2 ? { rows: question.shape[0] } : { type: "text" }) });
  const button = part("button", { type: "submit" }, "Check");
  const answers = part("div");
  const verdict = part("p", { "aria-live": "polite" });
  const form = part("form", { novalidate: "" });
  answers.append(field, button);
  form.append(label, answers, part("small", { id: `${id}-how` }, HOW[size]), verdict);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { head, said } = judge(question, field.value);
    const words = head ? [part("strong", {}, head), " "] : [];
    verdict.replaceChildren(...words, ...part("span", {}, said).childNodes);
  });
  field.addEventListener("input", () => verdict.replaceChildren()); // it was about another answer
  box.replaceChildren(form);
}

if (typeof document !== "undefined") document.querySelectorAll(".course-number").forEach(ask);
