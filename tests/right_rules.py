"""Right rules of unusual kinds: other orders of the calls, other draws, other couplings.

RIGHT: (kinds that may be found, name of the check, function, options of the check).
"""
import functools

import numpy as np
from wrong_rules import kept, one_round, owed, pick

from course.models import temperature

RIGHT = []


def right(*kinds, check="speculate", **options):
    def add(fn):
        RIGHT.append((kinds, check, fn, options))
        return fn
    return add


def looped(round, prompt, n_new, end=None):
    """prompt and n_new tokens by rounds; the gamma of each is what round takes it to be."""
    text = list(prompt)
    while len(text) < len(prompt) + n_new:
        for x in round(text)[:len(prompt) + n_new - len(text)]:
            text.append(x)
            if x == end:
                return text
    return text


@right("point-mass")
def greedy_guess_and_match(target, draft, tokens, gamma, rng):
    text, new = list(tokens), []
    for _ in range(gamma):
        text.append(int(draft(text)[-1].argmax()))
    for i, row in enumerate(target(text)[len(tokens) - 1:]):
        new.append(pick(row, rng))
        if i == gamma or new[-1] != text[len(tokens) + i]:
            return new


@right("keeps-less")
def keeps_half_as_often_and_pays_the_rest(*a):
    return one_round(*a, keep=lambda p, q, x, rng: rng.random() * q[x] < p[x] / 2,
                     redraw=lambda p, q, nxt: p - np.minimum(q, p / 2))


@right("stale-draft")
def draft_reads_the_last_token_alone(target, draft, tokens, gamma, rng):
    return one_round(target, lambda text: draft(text[-1:]), tokens, gamma, rng)


@right("plain")
def a_round_without_guesses(target, draft, tokens, gamma, rng):
    text = list(tokens)
    for _ in range(gamma + 1):
        text.append(pick(target(text)[-1], rng))
    return text[len(tokens):]


@right("right")
def target_is_asked_guess_by_guess(target, draft, tokens, gamma, rng):
    text = list(tokens)
    for _ in range(gamma):
        q, p = draft(text)[-1], target(text)[-1]
        x = pick(q, rng)
        if not kept(p, q, x, rng):
            return text[len(tokens):] + [pick(owed(p, q), rng)]
        text.append(x)
    return text[len(tokens):] + [pick(target(text)[-1], rng)]


@right("right")
def draft_reads_all_guesses_once_more(target, draft, tokens, gamma, rng):
    text, n = list(tokens), len(tokens)
    for _ in range(gamma):
        text.append(pick(draft(text)[-1], rng))
    p, q = target(text)[n - 1:], draft(text)[n - 1:]
    for i, x in enumerate(text[n:]):
        if not kept(p[i], q[i], x, rng):
            return text[n:n + i] + [pick(owed(p[i], q[i]), rng)]
    return text[n:] + [pick(p[-1], rng)]


@right("right")
def two_guesses_for_each_place(target, draft, tokens, gamma, rng):
    """The second guess meets what the first has left to be paid (SpecInfer, 2305.09781)."""
    text = list(tokens)
    for _ in range(gamma):
        p, q, x = target(text)[-1], draft(text)[-1], None
        for _ in range(2):
            x = pick(q, rng)
            if kept(p, q, x, rng):
                break
            p, x = owed(p, q) / owed(p, q).sum(), None
        if x is None:
            return text[len(tokens):] + [pick(p, rng)]
        text.append(x)
    return text[len(tokens):] + [pick(target(text)[-1], rng)]


@right("right")
def coin_first_guess_afterwards(target, draft, tokens, gamma, rng):
    """Whether a guess will be kept is known by its chance, Σ min(p, q), before it is drawn."""
    text = list(tokens)
    for _ in range(gamma):
        p, q = target(text)[-1], draft(text)[-1]
        if rng.random() >= np.minimum(p, q).sum():
            return text[len(tokens):] + [pick(owed(p, q), rng)]
        text.append(pick(np.minimum(p, q), rng))
    return text[len(tokens):] + [pick(target(text)[-1], rng)]


@right("right")
def all_coins_drawn_first(target, draft, tokens, gamma, rng):
    class Tape:
        coins = iter(rng.random(2 * gamma + 1))

        def random(self):
            return next(self.coins)
    return one_round(target, draft, tokens, gamma, Tape())


@right("right")
def fresh_noise_for_every_draw(target, draft, tokens, gamma, rng):
    """Races of exponential clocks, which cannot be enumerated."""
    def race(w):
        with np.errstate(divide="ignore"):
            return int((rng.exponential(size=len(w)) / w).argmin())
    text, q, n = list(tokens), [], len(tokens)
    for _ in range(gamma):
        q.append(draft(text)[-1])
        text.append(race(q[-1]))
    p = target(text)[n - 1:]
    for i, x in enumerate(text[n:]):
        if not kept(p[i], q[i], x, rng):
            return text[n:n + i] + [race(owed(p[i], q[i]))]
    return text[n:] + [race(p[-1])]


@right("right", check="generate")
def longer_rounds_after_success(target, draft, prompt, n_new, gamma, rng):
    width = [gamma]

    def round(text):
        new = one_round(target, draft, text, width[0], rng)
        width[0] = width[0] + 1 if len(new) > width[0] else max(width[0] - 1, 1)
        return new
    return looped(round, prompt, n_new)


@right("right", check="generate")
def no_more_guesses_than_tokens_wanted(target, draft, prompt, n_new, gamma, rng):
    return looped(lambda text: one_round(target, draft, text, min(
        gamma, len(prompt) + n_new - len(text) - 1), rng), prompt, n_new)


@right("own-guesses", check="generate")
def what_followed_last_time(target, draft, prompt, n_new, gamma, rng):
    """Prompt lookup: the guesses are what came after the last token earlier in the text."""
    def round(text):
        hits = [i for i in range(len(text) - 1) if text[i] == text[-1]]
        guesses = text[hits[-1] + 1:hits[-1] + 1 + gamma] if hits else []
        new = []
        for x, row in zip([*guesses, None], target(text + guesses)[len(text) - 1:]):
            new.append(pick(row, rng))
            if new[-1] != x:
                return new
    return looped(round, prompt, n_new)


@right("right", check="generate", end=7)
@right("right", check="generate", end=0)
def stops_in_the_round(target, draft, prompt, n_new, gamma, rng, stop=None):
    return looped(lambda text: one_round(target, draft, text, gamma, rng), prompt, n_new, stop)


def half(model):
    return temperature(model, 0.5)


@right("plain", check="generate", wanted=half)
def tempered_target_alone(target, draft, prompt, n_new, gamma, rng):
    return looped(lambda text: [pick(half(target)(text)[-1], rng)], prompt, n_new)


class Writer:
    def text(self, target, draft, prompt, n_new, gamma, rng):
        return stops_in_the_round(target, draft, prompt, n_new, gamma, rng)


RIGHT += [(("right",), "generate", fn, {}) for fn in (
    Writer().text, functools.partial(Writer.text, Writer()), lambda *args: Writer().text(*args))]
