"""The checks: every row of the table of verdicts, every way a function can misbehave, the points.
"""
import math
import random
import sys
import threading
import time

import numpy as np
import pytest
from right_rules import RIGHT
from wrong_habits import HABITS
from wrong_rules import RULES

from course import check, speculative
from course.marking.limits import within
from course.mistakes import CATALOGUE, looped
from course.models import temperature


def right(target, draft, prompt, n_new, gamma, rng):
    return speculative.generate(target, draft, prompt, n_new, gamma, rng)


def judged(entry, end=None):
    return check.generate(CATALOGUE[entry].generate, end=end)


# ---- the table of verdicts
def test_right():
    v = check.generate(right)
    assert (v.ok, v.lossless, v.tv, v.kind, v.family) == (True, True, 0.0, "right", "")
    assert v.how.startswith("exact, ") and v.points(2) == 2.0
    assert check.speculate(speculative.speculate).kind == "right"
    assert check.generate(speculative.generate, end=3).ok
    assert check.accept(speculative.accept).ok and check.residual(speculative.residual).ok


@pytest.mark.parametrize("name", ["sample-and-match", "point-mass", "no-bonus", "stale-draft",
                                  "hotter-draft"])
def test_right_but_slower(name):
    v = judged(name)
    assert v.ok and v.lossless and v.kind == name and v.tv == 0.0 and "slower" in v.reason


def test_never_ends_without_guesses():
    v = judged("endless")
    assert (v.ok, v.lossless, v.kind, v.family) == (False, False, "endless", "stopping")


def test_wrong_law():
    v = judged("redraw-target")
    assert (v.ok, v.lossless, v.kind, v.family) == (False, False, "redraw-target", "residual")
    assert v.tv > 0.05 and 0 < v.points(2) < 2
    assert "token 2 with probability 0.280, and the target wants 0.200" in v.reason


@pytest.mark.parametrize("name", ["eager-residual", "gamma-zero"])
def test_right_law_and_a_crash(name):
    v = judged(name)
    assert (v.ok, v.lossless, v.kind, v.family) == (False, True, name, "numbers")


@pytest.mark.parametrize("name", ["too-many-tokens", "too-few-tokens"])
def test_wrong_length(name):
    v = judged(name)
    assert (v.ok, v.lossless, v.kind, v.family) == (False, False, name, "stopping")


@pytest.mark.parametrize("stub", [None, ..., "?", lambda *a: None, lambda *a: ...])
@pytest.mark.parametrize("name", ["accept", "residual", "speculate", "generate"])
def test_untouched(stub, name):
    v = getattr(check, name)(stub)
    assert (v.ok, v.lossless, v.kind, v.family) == (False, False, "no answer yet", "")
    assert v.points(3) == 0.0 and math.isnan(v.tv)


@pytest.mark.parametrize("name", ["accept", "residual", "speculate", "generate"])
def test_untouched_stub_that_raises(name):
    def stub(*args):
        raise NotImplementedError("your answer")
    assert getattr(check, name)(stub).kind == "no answer yet"


# ---- what is wanted
def test_wanted_law():
    def cooled(target, draft, prompt, n_new, gamma, rng):
        return right(temperature(target, 0.5), draft, prompt, n_new, gamma, rng)

    def half(model):
        return temperature(model, 0.5)
    assert check.generate(cooled, wanted=half).ok
    assert not check.generate(cooled).lossless
    v = check.generate(right, wanted=half)
    assert (v.lossless, v.kind, v.family) == (False, "target-untempered", "target")


def test_end_may_be_any_token_and_any_parameter():
    def named(target, draft, prompt, n_new, gamma, rng, *, end):
        return speculative.generate(target, draft, prompt, n_new, gamma, rng, end)

    def seventh(target, draft, prompt, n_new, gamma, rng, stop):
        return speculative.generate(target, draft, prompt, n_new, gamma, rng, stop)

    def built_in(target, draft, prompt, n_new, gamma, rng, helper=len):
        return speculative.generate(target, draft, prompt, n_new, gamma, rng, 7)
    assert check.generate(named, end=0).ok
    assert check.generate(seventh, end=1).ok
    assert check.generate(built_in, end=7).ok


def greedy_round(target, draft, tokens, gamma, rng):
    guesses = []
    for _ in range(gamma):
        guesses.append(int(draft(tokens + guesses)[-1].argmax()))
    wanted = [int(row.argmax()) for row in target(tokens + guesses)[len(tokens) - 1:]]
    n = next((i for i in range(gamma) if guesses[i] != wanted[i]), gamma)
    return guesses[:n] + [wanted[n]]


def test_greedy_decoding_is_right_where_it_is_wanted():
    def cold(model):
        return temperature(model, 0)
    v = check.speculate(greedy_round, wanted=cold)
    assert (v.ok, v.lossless, v.kind) == (True, True, "right"), v
    assert check.speculate(greedy_round).kind != "right"
    v = check.speculate(lambda *a: greedy_round(*a)[-1:], wanted=cold)
    assert not v.lossless and v.family != "randomness" and "0.5, 0.3, 0.2" not in v.reason


def test_a_loop_without_guesses_is_right_and_told_what_it_misses():
    v = check.generate(lambda target, draft, prompt, n_new, gamma, rng:
                       speculative.autoregress(target, prompt, n_new, rng))
    assert (v.ok, v.lossless, v.kind) == (True, True, "plain") and "never asked" in v.reason


# ---- misbehaviour: one sentence each, nothing raised, nothing on the error stream
def changes_prompt(target, draft, prompt, n_new, gamma, rng):
    prompt[:] = right(target, draft, prompt, n_new, gamma, rng)
    return prompt


def forgets_prompt(*args):
    return right(*args)[len(args[2]):]


def edits_prompt(*args):
    return [0, *right(*args)[1:]]


def own_generator(target, draft, prompt, n_new, gamma, rng):
    return right(target, draft, prompt, n_new, gamma, np.random.default_rng())


def python_random(target, draft, prompt, n_new, gamma, rng):
    class Own:
        def choice(self, n, p):
            return random.choices(range(n), p)[0]

        def random(self):
            return random.random()
    return right(target, draft, prompt, n_new, gamma, Own())


CALLS = [0]


def counts_calls(target, draft, prompt, n_new, gamma, rng):
    CALLS[0] += 1
    return right(target, draft, prompt, n_new, gamma * (CALLS[0] % 2), rng)


MISBEHAVING = {
    "changed-argument": (changes_prompt, "rollback", True),
    "prompt-missing": (forgets_prompt, "stopping", False),
    "prompt-changed": (edits_prompt, "rollback", False),
    "other-source": (own_generator, "randomness", True),
    "remembers": (counts_calls, "randomness", True),
    "wrong-type": (lambda *a: 3, "numbers", False),
    "crash": (lambda *a: 1 / 0, "numbers", False),
}


@pytest.mark.parametrize("kind", MISBEHAVING)
def test_misbehaviour_has_its_own_sentence(kind, capfd):
    fn, family, lossless = MISBEHAVING[kind]
    v = check.generate(fn)
    assert (v.kind, v.family, v.lossless, v.ok) == (kind, family, lossless, False), v
    assert capfd.readouterr().err == ""


async def waits(*a):
    return right(*a)


def yields(*a):
    yield from right(*a)


SENTENCES = {  # what is said of it: the function
    "async def": waits, "`yield`": yields, "[0.0, 1.0": lambda *a: [float(x) for x in right(*a)],
    "[False, True": lambda *a: [bool(x) for x in right(*a)], "'0 1": lambda *a: "0 1 1",
    "[[0, 1": lambda *a: [right(*a)], "holds -1": lambda *a: right(*a)[:-1] + [-1],
    "holds 99": lambda *a: right(*a)[:-1] + [99], "SystemExit": lambda *a: sys.exit(),
    "100,001 new": lambda *a: right(*a) + [0] * 100_000,
    "too many positional": lambda target, draft: 3,
    "RecursionError": lambda *a: (f := lambda: f())(), "is no function": [1, 2]}


@pytest.mark.parametrize("said", SENTENCES)
def test_each_has_its_own_sentence(said, capfd):
    v = check.generate(SENTENCES[said])
    assert not v.ok and not v.lossless and said in v.reason and "failed by itself" not in v.reason
    assert capfd.readouterr().err == ""


def test_the_stop_button_is_not_imitated():
    def pressed(*a):
        raise KeyboardInterrupt
    for name in ("generate", "accept"):
        v = getattr(check, name)(pressed)
        assert v.kind == "crash" and "KeyboardInterrupt" in v.reason


def test_rows_that_are_spoiled_by_the_learner_are_not_the_models_own():
    def spoiling(model):
        def rows(tokens):
            laws = model(tokens)
            kept = laws.copy()
            laws[...] = 0
            return kept
        return rows
    for _ in range(2):
        assert check.generate(lambda target, draft, *a: right(
            spoiling(target), spoiling(draft), *a)).ok


def test_memory_that_grows_is_stopped(monkeypatch):
    monkeypatch.setattr("course.marking.limits.MEMORY", 2**26)
    with pytest.raises(TimeoutError, match="memory"):
        within(20, lambda: [bytearray(2**12) for _ in iter(int, 1)])


def test_slow_is_not_endless(monkeypatch):
    monkeypatch.setattr("course.marking.examine.SLOW_SECONDS", 1.0)

    def slow(*a):
        time.sleep(0.03)
        return right(*a)
    v = check.generate(slow)
    assert (v.ok, v.lossless, v.kind) == (False, True, "too-slow")


def test_odd_ends_and_laws_wanted():
    assert "is a token" in check.generate(right, end="a").reason
    assert "is a token" in check.generate(right, end=-1).reason
    assert "take the end as a parameter" in check.generate(right, end=50_256).reason
    assert check.generate(speculative.generate, end=50_256).ok
    assert "from a model to a model" in check.generate(right, wanted=0.5).reason


def test_other_sources_of_randomness():
    assert check.generate(python_random).kind == "other-source"


def test_a_crash_names_its_line():
    def broken(target, draft, prompt, n_new, gamma, rng):
        return undefined  # noqa: F821
    v = check.generate(broken)
    assert "NameError" in v.reason and "in broken" in v.reason and math.isnan(v.tv)


@pytest.mark.parametrize("body", ["while True: pass",
                                  "while True:\n  try:\n   [].x\n  except Exception: pass",
                                  "while True: rng.random()", "while True: target(list(prompt))",
                                  "while True: print(1)"])
def test_endless_loops_are_stopped(body, capfd):
    space = {}
    exec("def f(target, draft, prompt, n_new, gamma, rng):\n " + body.replace("\n", "\n "), space)
    start = time.monotonic()
    v = check.generate(space["f"])
    assert (v.kind, v.family, v.lossless) == ("endless", "stopping", False)
    assert time.monotonic() - start < 60
    said = capfd.readouterr()
    assert said.err == "" and len(said.out) < 2000


def test_a_flood_of_prints_is_held_back(capsys):
    def loud(*args):
        print("x" * 100)
        print("to the error stream", file=sys.stderr)
        return right(*args)
    v = check.generate(loud)
    said = capsys.readouterr()
    assert v.ok and "printed" in v.reason and "xxx" not in said.out and said.err == ""


def test_rounds_that_return_the_wrong_thing():
    def whole(target, draft, tokens, gamma, rng):
        return list(tokens) + speculative.speculate(target, draft, tokens, gamma, rng)

    def many(target, draft, tokens, gamma, rng):
        return speculative.generate(target, draft, tokens, gamma + 2, gamma, rng)[len(tokens):]
    assert check.speculate(whole).kind == "prompt-returned"
    assert check.speculate(many).kind == "too-many-tokens"


def test_time_limit_hands_on_values_and_errors():
    assert within(5, lambda x: x + 1, 1) == 2
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 / 0)
    with pytest.raises(TimeoutError):
        within(0.1, time.sleep, 0.5)


# ---- a tie, and a little number in a denominator
def test_tie_with_a_coin_of_zero():
    assert check.accept(lambda x, p, q, rng: rng.random() <= p[x] / q[x]).kind == "accept-boundary"
    assert check.accept(lambda x, p, q, rng: 1 - rng.random() <= p[x] / q[x]).ok

    def tied(*args):
        entry = CATALOGUE["right"].rule
        rule = type(entry)(keep=lambda x, p, q, rng: rng.random() * q[x] <= p[x])
        return looped(rule, *args)
    v = check.generate(tied)
    assert (v.ok, v.lossless, v.kind, v.family) == (False, True, "accept-boundary", "acceptance")


def test_small_number_in_a_denominator():
    entry = CATALOGUE["right"].rule
    rule = type(entry)(keep=lambda x, p, q, rng: rng.random() < p[x] / (q[x] + 1e-8))
    v = check.speculate(rule)
    assert (v.ok, v.lossless, v.kind) == (False, False, "epsilon")


# ---- accept and residual by themselves
ACCEPTS = {
    "accept-inverted": lambda x, p, q, rng: rng.random() * p[x] < q[x],
    "accept-flipped": lambda x, p, q, rng: rng.random() * q[x] > p[x],
    "accept-hard": lambda x, p, q, rng: p[x] >= q[x],
    "accept-always": lambda x, p, q, rng: True,
    "accept-target-probability": lambda x, p, q, rng: rng.random() < p[x],
    "accept-vs-max": lambda x, p, q, rng: rng.random() < p[x] / p.max(),
    "accept-lenient": lambda x, p, q, rng: rng.random() * q[x] < 1.2 * p[x],
}


@pytest.mark.parametrize("kind", ACCEPTS)
def test_wrong_accept(kind):
    for hidden in (False, True):
        v = check.accept(ACCEPTS[kind], hidden)
        assert (v.ok, v.lossless, v.kind, v.family) == (False, False, kind, "acceptance")


def scaled(weights):
    return weights / weights.sum()


RESIDUALS = {
    "redraw-target": lambda p, q: p, "redraw-draft": lambda p, q: q,
    "residual-absolute": lambda p, q: scaled(abs(p - q)),
    "residual-swapped": lambda p, q: scaled(np.maximum(q - p, 0)),
    "residual-argmax": lambda p, q: np.eye(len(p))[(p - q).argmax()],
    "residual-unnormalised": lambda p, q: np.maximum(p - q, 0),
    "residual-floor": lambda p, q: scaled(np.maximum(p - q, 1e-4)),
}


@pytest.mark.parametrize("kind", RESIDUALS)
def test_wrong_residual(kind):
    for hidden in (False, True):
        v = check.residual(RESIDUALS[kind], hidden)
        assert (v.ok, v.lossless, v.kind, v.family) == (False, False, kind, "residual")


def test_residual_of_equal_laws_must_say_so():
    v = check.residual(lambda p, q: scaled(np.maximum(p - q, 0)))
    assert (v.ok, v.lossless, v.kind, v.family) == (False, True, "nothing-owed", "numbers")
    v = check.residual(lambda p, q: p.__isub__(q).clip(0) / 0.4)
    assert v.kind == "changed-argument"


# ---- numbers
def test_numbers_are_recognised():
    v = check.number("06-tokens", 1.96)
    assert v.ok and v.kind == "right" and v.points(1) == 1.0
    v = check.number("06-tokens", 2.2)
    assert not v.ok and v.kind == "counts-after-rejection"
    assert "after the first rejection" in v.reason
    assert check.number("05-alpha", 1.7).reason.endswith("between 0 and 1.")
    for nothing in (None, "?", ...):
        assert check.number("05-alpha", nothing).kind == "no answer yet"
    for odd in ("many", [1, 2], math.nan):
        assert check.number("05-alpha", odd).kind == "wrong-type"
    assert check.number("05-no-such", 1).kind == "unknown"


@pytest.mark.parametrize("name", check.NUMBERS)
def test_number_questions_tell_their_wrong_values_apart(name):
    from course.marking.values import SLACK, _gap, value_of
    entry = check.NUMBERS[name]
    values = [value_of(f, entry["given"]) for f in
              [entry["right"], *(w["formula"] for w in entry["wrong"])]]
    gaps = [_gap(a, b) for i, a in enumerate(values) for b in values[:i]]
    assert min(gaps) > 2 * entry.get("slack", SLACK)
    assert check.number(name, values[0].tolist()).ok
    for value, wrong in zip(values[1:], entry["wrong"]):
        assert check.number(name, value).kind == wrong["idea"]


# ---- other wrong rules, other right ones
FAMILY_FOUND = 0.9


def test_rules_that_the_catalogue_does_not_contain():
    rules = RULES + HABITS
    found = [(family, fn.__name__, getattr(check, name)(fn, **options))
             for family, name, fn, options in rules]
    assert not [name for _, name, v in found if v.ok]
    assert not [name for _, name, v in found if v.lossless]
    assert not [name for _, name, v in found if v.tv > 1 or not v.reason]
    right_family = [name for family, name, v in found if v.family == family]
    assert len(right_family) >= FAMILY_FOUND * len(rules), set(n for _, n, _ in found) - set(
        right_family)


@pytest.mark.parametrize("kinds, name, fn, options", RIGHT,
                         ids=lambda x: getattr(x, "__name__", None))
def test_right_rules_of_unusual_kinds(kinds, name, fn, options, capfd):
    v = getattr(check, name)(fn, **options)
    assert (v.ok, v.lossless, v.tv) == (True, True, 0.0) and v.kind in kinds, v
    assert capfd.readouterr().err == ""


def test_verdict_shows_itself_as_text_and_html():
    v = judged("accept-hard")
    assert "Not yet." in repr(v) and "accept-hard (acceptance)" in repr(v)
    assert "course-verdict" in v._repr_html_() and "<script" not in v._repr_html_()


# ---- answers that are lists, blanks, faults on purpose
QUESTION = {"given": {"p": [0.5, 0.3, 0.2], "n": 3}, "reason": "Row by row.", "wrong": [
    {"formula": "ones((n, n))", "idea": "no-mask", "reason": "Every row sees everything."},
    {"formula": "triu(ones((n, n)))", "idea": "mask-upside-down", "reason": "It sees the future."}],
    "right": "tril(ones((n, n)))"}


def test_lists_are_recognised_too():
    assert judged_value(np.tril(np.ones((3, 3))).tolist())[:2] == (True, "right")
    assert judged_value(np.tril(np.ones((3, 3), bool)))[:2] == (True, "right")
    assert judged_value(np.ones((3, 3)))[:2] == (False, "no-mask")
    assert judged_value([[1, 1, 1], [0, 1, 1], [0, 0, 1]])[:2] == (False, "mask-upside-down")
    ok, kind, reason = judged_value(np.eye(3))
    assert (ok, kind) == (False, "unknown") and "row 1, column 0" in reason
    for odd in (1, [1, 2], [[1, 2], [3]], "tril", [[math.nan] * 3] * 3):
        ok, kind, reason = judged_value(odd)
        assert (ok, kind) == (False, "wrong-type") and "3 rows with 3 numbers each" in reason
    for blank in (..., None, "?", [[1, 0, 0], [1, 1, ...], [1, 1, 1]], [...]):
        assert judged_value(blank)[1] == "no answer yet"


def test_a_function_may_give_the_number():
    name = next(iter(check.NUMBERS))
    assert check.number(name, lambda: check.NUMBERS[name] and ...).kind == "no answer yet"
    assert check.number("05-alpha", lambda: 0.7).ok
    assert check.number("05-alpha", lambda: ... + 1).kind == "no answer yet"
    v = check.number("05-alpha", lambda: 1 / 0)
    assert (v.ok, v.kind) == (False, "crash") and "ZeroDivisionError" in v.reason

    def endless():
        while True:
            pass
    assert check.number("05-alpha", endless).kind == "endless"


def test_an_answer_close_to_a_strict_question_is_told_where_it_is_off():
    from course.marking.values import judged
    ok, kind, reason = judged(QUESTION | {"slack": 1e-6}, np.tril(np.ones((3, 3))) + 1e-4)
    assert (ok, kind) == (False, "unknown") and "row 0, column 0" in reason


def judged_value(value):
    from course.marking.values import judged
    return judged(QUESTION, value)


def test_a_blank_inside_a_function_is_no_answer_yet():
    def half(p, q):
        left = ...
        return left / left.sum() if hasattr(left, "sum") else np.maximum(p - q, ...)

    def test(x, p, q, rng):
        chance = ...
        return rng.random() < chance

    def round(target, draft, tokens, gamma, rng):
        return [...]
    found = check.residual(half), check.accept(test), check.speculate(round)
    assert [v.kind for v in found] == ["no answer yet"] * 3, found


def test_a_fault_on_purpose():
    v = check.planted(check.residual(lambda p, q: p), "redraw-target")
    assert v.ok and v.kind == "redraw-target" and v.points(2) == 2.0
    assert check.planted(check.residual(lambda p, q: p), "redraw-draft", "residual").ok
    v = check.planted(check.residual(speculative.residual), "redraw-target")
    assert not v.ok and v.points(2) == 0.0 and "has no fault" in v.reason
    v = check.planted(check.residual(None), "redraw-target")
    assert v.kind == "no answer yet" and not v.ok


def test_the_progress_bar_is_silent_where_outputs_are_stored(monkeypatch, capsys):
    from course.marking.limits import Progress
    for stored, said in (("1", False), ("", True)):
        monkeypatch.setenv("COURSE_STORED", stored)
        bar = Progress(after=0.0)
        time.sleep(0.01)
        bar.step(1, 2)
        bar.close()
        assert bool(capsys.readouterr().out) is said


def test_in_a_page_checks_do_without_threads(monkeypatch):
    def none(thread):
        raise RuntimeError("can't start new thread")
    monkeypatch.setattr(threading.Thread, "start", none)
    with pytest.raises(RuntimeError, match="thread"):  # so that this test can fail
        within(1, int)
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert check.speculate(speculative.speculate).ok and check.accept(speculative.accept).ok
    assert check.number("05-alpha", lambda: 1 / 0).kind == "crash"
