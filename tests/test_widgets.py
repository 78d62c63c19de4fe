"""The explorers: their JavaScript computes what course does, their static twin needs nothing."""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

from course import exact, speculative, widgets
from course.attention import attention, causal_mask, moved, weights
from course.gain import best_gamma, expected_tokens, speed_up
from course.models import markov
from course.speculative import accept, generate, residual, sample
from course.trace import Coins, coins_needed, trace
from course.widgets import PQ, WAYS, Gain, Mask, Stepper

HERE = pathlib.Path(__file__).parent
WIDGETS = pathlib.Path(widgets.__file__).parent  # a copy with a planted fault, in make mutate
TARGET = [[.5, .3, .2], [.1, .6, .3], [.3, .3, .4]]
DRAFT = [[.2, .2, .6], [.3, .4, .3], [.5, .2, .3]]
WORDS = ["tonight", "the", "sky", "is", "moon"]
VECTORS = [[1., 0.], [0., 1.], [1., 1.], [0., 2.], [2., 2.]]
RULES = ("right", "from-p", "from-q", "gap", "favourite", "always", "no-coin")
node = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed: "
                          "the JavaScript of the explorers is not tested here")


def random_law(rng, size):
    """A law with zeros, one-hot, or of tenths (so that coins of tenths meet its edges)."""
    kind = rng.integers(4)
    if kind == 0:
        return np.eye(size)[rng.integers(size)]
    if kind == 1:
        return rng.multinomial(10, np.full(size, 1 / size)) / 10
    law = rng.dirichlet(np.ones(size)) * (rng.random(size) < 0.7 if kind == 2 else 1)
    return law / law.sum() if law.sum() else np.full(size, 1 / size)


def one_token(rule, p, q):
    """One token drawn by a rule, from the course's own sample, accept and residual."""
    owed = None if (p - q).max() <= speculative.DUST else residual(p, q)
    redraws = {"from-p": p, "from-q": q, "gap": abs(p - q) / max(abs(p - q).sum(), 1e-300),
               "favourite": None if owed is None else np.eye(len(p))[owed.argmax()]}

    def sampler(rng):
        x = sample(q, rng)
        keep = {"always": lambda: True, "no-coin": lambda: p[x] >= q[x]}
        if keep.get(rule, lambda: accept(x, p, q, rng))() or owed is None:
            return [x]
        return [sample(redraws.get(rule, owed), rng)]
    return sampler


def rule_laws(pairs):
    """The exact law of every rule on every pair, as {(pair, rule): law}: one enumeration of all."""
    runs = [(k, rule, one_token(rule, *pair)) for k, pair in enumerate(pairs) for rule in RULES]

    def sampler(rng):
        i = rng.integers(len(runs))
        return [i, *runs[i][2](rng)]
    joint = exact.law(sampler)
    return {(k, rule): [len(runs) * joint.get((i, x), 0.0) for x in range(len(pairs[k][0]))]
            for i, (k, rule, _) in enumerate(runs)}


def split_cases():
    rng = np.random.default_rng(5)
    pairs = [([.5, .3, .2], [.2, .2, .6]), ([1., 0.], [0., 1.]), ([.5, .5], [.5, .5]),
             ([0., 1., 0.], [.2, .2, .6]), ([.5, 0., .5], [0., 1., 0.])]
    pairs += [(random_law(rng, n), random_law(rng, n)) for n in (2, 3, 4, 5) for _ in range(12)]
    pairs = [(np.array(p), np.array(q)) for p, q in pairs]
    laws = rule_laws(pairs)
    for k, (p, q) in enumerate(pairs):
        kept = np.minimum(p, q)
        rules = {rule: {"law": laws[k, rule], "distance": abs(laws[k, rule] - p).sum() / 2}
                 for rule in RULES}
        same = (p - q).max() <= speculative.DUST
        yield {"p": p.tolist(), "q": q.tolist(), "kept": kept.tolist(), "owed": (p - kept).tolist(),
               "thrown": (q - kept).tolist(), "alpha": kept.sum(), "rules": rules,
               "residual": None if same else residual(p, q).tolist()}


def trace_cases():
    rng = np.random.default_rng(6)
    for gamma in range(4):
        for k in range(50):
            size, n_new = int(rng.integers(2, 6)), int(rng.integers(1, 2 * gamma + 3))
            target, draft = ([random_law(rng, size).tolist() for _ in range(size)] for _ in "pq")
            coins = rng.random(coins_needed(gamma, n_new))
            coins = (coins if k % 2 else np.floor(10 * coins) / 10).tolist()
            state = {"target": target, "draft": target if k % 10 == 0 else draft, "gamma": gamma,
                     "n_new": n_new, "prompt": rng.integers(size, size=1 + k % 3).tolist()}
            models = markov(state["target"]), markov(state["draft"])
            text = generate(*models, state["prompt"], n_new, gamma, Coins(coins))
            rows = trace(*models, state["prompt"], gamma, n_new, coins)
            yield {**state, "coins": coins, "rows": rows, "text": text}


def gain_cases():
    rng = np.random.default_rng(7)
    usual = list(Gain(.82, .05, 4).ways.values())
    for k in range(300):
        alpha, c = rng.random(2) if k % 3 else rng.choice([0, .05, .5, 1], size=2)
        v = usual[k % 4] if k % 4 < 3 else [0, 1, *(1 + np.cumsum(rng.random(k % 20)) / 3)]
        gamma = int(rng.integers(len(v) - 1))
        yield {"alpha": alpha, "gamma": gamma, "c": c, "v": v, "best": best_gamma(alpha, c, v),
               "tokens": expected_tokens(alpha, gamma), "speed": speed_up(alpha, gamma, c, v)}


def mask_cases():
    rng = np.random.default_rng(3)
    for k in range(300):
        size, n, width = rng.integers(3, 9), rng.integers(3, 9), rng.integers(2, 6)
        x = rng.normal(size=(size, width)) * 3 if k % 4 else rng.integers(-1, 3, (size, width))
        start, causal = rng.integers(size, size=n), bool(k % 2)
        tokens = start.copy()
        if k % 5 == 4:
            tokens = rng.permutation(start)  # the same words: some rows differ by rounding alone
        else:
            tokens[rng.integers(n, size=k % 5)] = rng.integers(size, size=k % 5)
        mask = causal_mask(n) | (not causal)
        text = x[tokens]
        yield {"vectors": x.tolist(), "start": start.tolist(), "tokens": tokens.tolist(),
               "causal": causal, "names": [f"<{i}>" for i in range(size)],
               "weights": weights(text, text, mask).tolist(),
               "output": attention(text, text, text, mask).tolist(),
               "moves": moved(x[start], text, mask).tolist()}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs Node's tests on a folder of modules; gives the exit status and what was printed."""
    cases = tmp_path_factory.mktemp("cases") / "cases.json"
    cases.write_text(json.dumps({"split": list(split_cases()), "trace": list(trace_cases()),
                                 "gain": list(gain_cases()), "mask": list(mask_cases())}))

    def node_test(folder):
        done = subprocess.run(["node", "--test", str(HERE / "widgets.test.mjs")], text=True,
                              capture_output=True, timeout=120,
                              env={**os.environ, "CASES": str(cases), "WIDGETS": str(folder)})
        return done.returncode, done.stdout + done.stderr
    return node_test


@node
def test_javascript_agrees_with_course(run):
    code, said = run(WIDGETS)
    assert code == 0, said[-3000:]
    assert int(re.search(r"pass (\d+)", said)[1]) == 11, said[-3000:]


FAULTS = [  # file, its text, the faulty text, the Node test that must see it (None: harmless)
    ("pq.js", "Math.max(v - q[i], 0)", "Math.max(q[i] - v, 0)", "split is what"),
    ("pq.js", "Math.min(v, q[i])", "Math.max(v, q[i])", "split is what"),
    ("pq.js", "left * redraw[i]", "redraw[i]", "emitted is the exact"),
    ("pq.js", '"from-p": p', '"from-p": q', "emitted is the exact"),
    ("pq.js", "p[i] >= v - DUST", "p[i] < v", "emitted is the exact"),
    ("pq.js", ": (1 - value) *", ": 1 *", "rescale keeps"),
    ("pq.js", "Math.max(v - q[i], 0)", "Math.max(0, v - q[i])", None),
    ("stepper.js", "Math.max(v - q[i], 0)", "Math.max(q[i] - v, 0)", "trace is course"),
    ("stepper.js", "row.u * row.q < row.p", "row.u < row.p", "trace is course"),
    ("stepper.js", "row.u * row.q < row.p", "row.u * row.q <= row.p", "trace is course"),
    ("stepper.js", "(edge += v) > coin", "(edge += v) >= coin", "trace is course"),
    ("stepper.js", "law = scaled(target[last])", "law = scaled(draft[last])", "trace is course"),
    ("stepper.js", "position < end ?", "position <= end ?", "trace is course"),
    ("stepper.js", "row.u * row.q < row.p", "row.p > row.q * row.u", None),
    ("gain.js", "i <= gamma", "i < gamma", "gain is course"),
    ("gain.js", "v[gamma + 1];", "v[gamma];", "gain is course"),
    ("gain.js", "> speedUp(alpha, found, c, v)", ">= speedUp(alpha, found, c, v)", "gain is"),
    ("gain.js", 'g === winner ? "best"', 'g === gamma ? "best"', "gain says"),
    ("gain.js", "gamma * c + v[gamma + 1];", "v[gamma + 1] + c * gamma;", None),
    ("mask.js", "j <= i", "j <= i + 1", "mask is course"),
    ("mask.js", "-Infinity", "0", "mask is course"),
    ("mask.js", "/ Math.sqrt(key.length)", "/ key.length", "mask is course"),
    ("mask.js", "Math.max(...row.map", "Math.min(...row.map", "mask is course"),
    ("mask.js", "[start, tokens].map((t)", "[tokens, tokens].map((t)", "mask is course"),
    ("mask.js", "x !== start[i])", "x === start[i])", "mask says"),
    ("mask.js", "places.map((j) => j - 1)", "places", "mask says"),
    ("mask.js", "(rows, (m) => m === 0)", "(rows, (m) => m < DUST)", "mask says"),
    ("mask.js", "(move === 0 ?", "(move < 0.005 ?", "mask says"),
    ("mask.js", "v * query[k]", "query[k] * v", None)]


@node
@pytest.mark.parametrize("file, old, new, seen_by", FAULTS)
def test_planted_faults_are_seen(run, tmp_path, file, old, new, seen_by):
    for path in WIDGETS.glob("*.js"):
        shutil.copy(path, tmp_path)
    text = (tmp_path / file).read_text("utf-8")
    assert text.count(old) == 1, f"the text to change occurs {text.count(old)} times"
    (tmp_path / file).write_text(text.replace(old, new), "utf-8")
    code, said = run(tmp_path)
    failed = re.findall(r"^(?:not ok \d+ - |✖ )(.+?)(?: \(.*)?$", said, re.M)
    assert (code != 0) == (seen_by is not None), said[-3000:]
    assert seen_by is None or any(name.startswith(seen_by) for name in failed), failed


def bundle(widget):
    return widget._repr_mimebundle_(include=None, exclude=None)[0]


def test_static_twin_of_pq():
    data = bundle(PQ([.5, .3, .2], [.2, .2, .6], ["a", "<b>", "c"]))
    page = data["text/html"]
    state = json.loads(html.unescape(re.search('data-state="(.*?)"', page)[1]))
    assert state == {"p": [.5, .3, .2], "q": [.2, .2, .6], "names": ["a", "<b>", "c"],
                     "start": [[.5, .3, .2], [.2, .2, .6]]}
    row = "".join(f"<td>{v}</td>" for v in ("0.75", "0.25", "0.00", "1.00"))
    assert f'<th scope="row">redraw</th>{row}' in page and '<th scope="col">&lt;b&gt;' in page
    assert re.search(r"thrown away +0\.00 +0\.00 +0\.40 +0\.40", data["text/plain"])
    assert "model_id" not in page + data["text/plain"], "the twin must not need the widget's state"
    assert "nan" not in bundle(PQ([.5, .5], [.5, .5]))["text/html"]


def test_static_twin_of_stepper():
    coins = [.51, .83, .51, .31] + [.1] * 40
    widget = Stepper(TARGET, DRAFT, [0], 2, 4, coins)
    data, rows = bundle(widget), widget.rows()
    state = json.loads(html.unescape(re.search('data-state="(.*?)"', data["text/html"])[1]))
    assert (state["coins"], state["target"], state["names"]) == (coins, TARGET, list("ABC"))
    assert data["text/html"].count("<tr>") == len(rows) + 1 and "not looked at" in data["text/html"]
    assert len(data["text/plain"].splitlines()) == len(rows) + 2
    again = bundle(Stepper(TARGET, DRAFT, [0], 2, 4, coins))
    assert all(again[k] == data[k] for k in ("text/html", "text/plain")), "two runs, two texts"


def test_static_twin_of_gain():
    data = bundle(Gain(.82, .05, 4))
    state = json.loads(html.unescape(re.search('data-state="(.*?)"', data["text/html"])[1]))
    assert (state["alpha"], state["c"], state["gamma"]) == (.82, .05, 4)
    assert list(state["ways"]) == list(WAYS) and state["way"] == next(iter(WAYS))
    assert re.search(r"^4 +3\.50 +1\.20 +2\.91$", data["text/plain"], re.M)
    assert re.search(r"^9 .*3\.30 +best$", data["text/plain"], re.M)
    own = Gain(np.float64(.5), 0, np.int64(2), {"here": np.array([0, 1, 1.2, 1.5])})
    assert re.search(r"^2 +1\.75 +1\.50 +1\.17", bundle(own)["text/plain"], re.M)
    plain = Gain(.82, .05, 4).ways["plain product of lesson 02"]
    assert (plain[5], plain[8], plain[16]) == (3.34, 3.47, 4.40)


def test_static_twin_of_mask():
    widget = Mask(WORDS, VECTORS, [0, 1, 2, 3])
    assert not widget.moves().any()
    widget.tokens = [0, 1, 4, 3]
    data = bundle(widget)
    state = json.loads(html.unescape(re.search('data-state="(.*?)"', data["text/html"])[1]))
    assert state == {"names": WORDS, "vectors": VECTORS, "start": [0, 1, 2, 3],
                     "tokens": [0, 1, 4, 3], "causal": True}
    assert re.search(r"^0 tonight +1.00 +× +× +× +0$", data["text/plain"], re.M)
    assert re.search(r"^2 moon \(was sky\) .*× +1\.21$", data["text/plain"], re.M)
    row = "".join(f"<td>{v}</td>" for v in ("0.03", "0.11", "0.43", "0.43", "0.70"))
    assert f'<th scope="row">3 is</th>{row}' in data["text/html"]
    widget.causal = False
    assert "×" not in bundle(widget)["text/plain"].split("\n", 1)[1]
    assert np.allclose(widget.moves(), [.59, .49, 1.35, .70], atol=.005)
    own = Mask(np.array(WORDS), np.array(VECTORS), np.array([0, 1, 2]), np.False_)
    assert own.tokens == [0, 1, 2] and json.dumps(bundle(own)["text/html"])


def test_state_can_be_set_and_is_checked():
    mask = Mask(WORDS, VECTORS, [0, 1, 2, 3])
    for wrong, mend in (([0, 1, 5, 3], r"range\(5\)"), ([0, 1, 2], "as many as at the start")):
        with pytest.raises(ValueError, match=mend):
            mask.tokens = wrong
    widget = PQ([.5, .5], [.2, .8])
    widget.p = [.1, .9]
    assert re.search(r"comes out +0\.10 +0\.90", bundle(widget)["text/plain"])
    for wrong, mend in (([.5, .6], "divide"), ([.2, .3, .5], "share one vocabulary")):
        with pytest.raises(ValueError, match=mend):
            widget.p = wrong


@pytest.mark.parametrize("make, mend", [
    (lambda: PQ([.5, .5], [.2, .2, .6]), "share one vocabulary"),
    (lambda: PQ([1.], [1.]), "2 to 5"),
    (lambda: PQ([.5, .5], [.5, .5], ["a"]), "one word a token"),
    (lambda: Mask(WORDS[:2], VECTORS[:2], [0, 1, 0]), "3 to 8"),
    (lambda: Mask([*"abcdefghi"], [[0, 1]] * 9, [0, 1, 2]), "3 to 8"),
    (lambda: Mask(WORDS[:4], VECTORS, [0, 1, 2]), "one word a token"),
    (lambda: Mask(WORDS, [*VECTORS[:4], [1, 2, 3]], [0, 1, 2]), "all words as many"),
    (lambda: Mask(WORDS, [[1]] * 5, [0, 1, 2]), "two finite numbers or more"),
    (lambda: Mask(WORDS, [1, 2, 3, 4, 5], [0, 1, 2]), "two finite numbers or more"),
    (lambda: Mask(WORDS, [*VECTORS[:4], [1, np.nan]], [0, 1, 2]), "finite"),
    (lambda: Mask(WORDS, VECTORS, [0, 1]), "3 to 8"),
    (lambda: Mask(WORDS, VECTORS, [0] * 9), "3 to 8"),
    (lambda: Mask(WORDS, VECTORS, ["the", "sky", "is"]), "list of ints"),
    (lambda: Mask(WORDS, VECTORS, [0, 1, 5]), r"range\(5\)"),
    (lambda: Gain(82, .05, 4), "from 0 to 1"),
    (lambda: Gain(.8, -1, 4), "from 0 on"),
    (lambda: Gain(.8, .1, 17), "smaller gamma"),
    (lambda: Gain(.8, .1, 1, {}), "at least one v"),
    (lambda: Gain(.8, .1, 1, {"a": [0, 1, 1], "b": [0, 1, 1, 1]}), "the same number"),
    (lambda: Stepper(TARGET, [[.5, .5]] * 2, [0], 2, 3, [.5] * 15), "share one vocabulary"),
    (lambda: Stepper(TARGET, DRAFT, [], 2, 3, [.5] * 15), "prompt is empty"),
    (lambda: Stepper(TARGET, DRAFT, [0], 2, 0, []), "one token to write"),
    (lambda: Stepper(TARGET, DRAFT, [0], 2, 3, [.5]), "coins_needed"),
    (lambda: Stepper(TARGET, DRAFT, [0], 2, 3, [1.0] * 15), "from 0 to below 1")])
def test_bad_input_names_the_mend(make, mend):
    with pytest.raises(ValueError, match=mend):
        make()
