"""Other ways through the guesses of a round, and rounds that exchange more than a part of it."""
import numpy as np

from course.rules.rounds import (
    RIGHT,
    Round,
    by_coin,
    draw,
    fresh,
    one_hot,
    owed,
    paid,
    rows_after,
    scaled,
    stop_at_rejection,
)
from course.speculative import DUST


def keep_going(part, guesses, p, q, bonus, rng):
    new = []
    for i, x in enumerate(guesses):
        new += [x] if part.keep(x, p[i], q[i], rng) else part.redraw(x, p[i], q[i], rng)
    return new + bonus()


def keep_the_rest(part, guesses, p, q, bonus, rng):
    for i, x in enumerate(guesses):
        if not part.keep(x, p[i], q[i], rng):
            return guesses[:i] + part.redraw(x, p[i], q[i], rng) + guesses[i + 1:]
    return guesses + bonus()


def leave_rejected_in(part, guesses, p, q, bonus, rng):
    for i, x in enumerate(guesses):
        if not part.keep(x, p[i], q[i], rng):
            return guesses[:i + 1] + part.redraw(x, p[i], q[i], rng)
    return guesses + bonus()


def bonus_after_rejection(part, guesses, p, q, bonus, rng):
    for i, x in enumerate(guesses):
        if not part.keep(x, p[i], q[i], rng):
            return guesses[:i] + part.redraw(x, p[i], q[i], rng) + [draw(p[i + 1], rng)]
    return guesses + bonus()


def whole_block_or_nothing(part, guesses, p, q, bonus, rng):
    for i, x in enumerate(guesses):
        if not part.keep(x, p[i], q[i], rng):
            return part.redraw(guesses[0], p[0], q[0], rng)
    return guesses + bonus()


def first_unchecked(part, guesses, p, q, bonus, rng):
    return guesses[:1] + stop_at_rejection(part, guesses[1:], p[1:], q[1:], bonus, rng)


def last_unchecked(part, guesses, p, q, bonus, rng):
    for i, x in enumerate(guesses[:-1]):
        if not part.keep(x, p[i], q[i], rng):
            return guesses[:i] + part.redraw(x, p[i], q[i], rng)
    return guesses + bonus()


def judged_by_first_row(part, guesses, p, q, bonus, rng):
    return stop_at_rejection(part, guesses, [p[0]] * len(p), q, bonus, rng)


def one_coin(part, guesses, p, q, bonus, rng):
    u = rng.random()
    for i, x in enumerate(guesses):
        if not u * q[i][x] < p[i][x]:
            return guesses[:i] + part.redraw(x, p[i], q[i], rng)
    return guesses + bonus()


def match(part, guesses, p, q, bonus, rng):
    new = []
    for x, row in zip(guesses, p):
        new.append(draw(row, rng))
        if new[-1] != x:
            return new
    return new + bonus()


# ---- rounds that exchange more than a part
def plain(target, draft, tokens, gamma, rng):
    return [draw(target(tokens)[-1], rng)]


def draft_alone(target, draft, tokens, gamma, rng):
    return [draw(draft(tokens)[-1], rng)]


def own_guesses(target, draft, tokens, gamma, rng):
    """Guesses that the last token comes again: a guess that is certain, q = 1."""
    guesses = tokens[-1:] * gamma
    p = rows_after(target, tokens, guesses)
    q = [one_hot(x, len(p[0])) for x in guesses]
    return stop_at_rejection(RIGHT, guesses, p, q, lambda: [draw(p[-1], rng)], rng)


def block(target, draft, tokens, gamma, rng):
    """Block verification (Sun et al. 2024): what earlier guesses have to spare helps later ones."""
    guesses, q = [], []
    for _ in range(gamma):
        x, law = fresh(draft, tokens, guesses, rng)
        guesses.append(x)
        q.append(law)
    p, share, kept, owing = rows_after(target, tokens, guesses), 1.0, 0, None
    for i in range(gamma + 1):
        left = np.maximum(share * p[i] - q[i], 0) if i < gamma else share * p[i]
        spare = left.sum() / (left.sum() + 1 - share) if i < gamma and share < 1 else share
        if i == 0 or rng.random() < spare:
            kept, owing = i, left
        if i < gamma:
            share = min(share * p[i][guesses[i]] / q[i][guesses[i]], 1.0)
    return guesses[:kept] + [draw(scaled(owing) if owing.max() > DUST else p[kept], rng)]


def same_stream(target, draft, tokens, gamma, rng):
    """Two generators with one seed: the coin that drew the guess also judges it."""
    coins, guesses, q = [rng.random() for _ in range(gamma)], [], []
    for u in coins:
        q.append(draft(tokens + guesses)[-1])
        guesses.append(by_coin(q[-1], u))
    p = rows_after(target, tokens, guesses)
    for i, (x, u) in enumerate(zip(guesses, coins)):
        if not u * q[i][x] < p[i][x]:
            return guesses[:i] + owed(x, p[i], q[i], rng)
    return guesses + [draw(p[-1], rng)]


def race(law, noise):
    """The token whose exponential clock rings first: a draw from law, if the noise is fresh."""
    with np.errstate(divide="ignore"):
        return int(np.argmin(noise / law))


def same_noise(target, draft, tokens, gamma, rng):
    """The noise that picked the guess also picks its replacement."""
    guesses, q, noise = [], [], []
    for _ in range(gamma):
        q.append(draft(tokens + guesses)[-1])
        noise.append(rng.exponential(size=len(q[-1])))
        guesses.append(race(q[-1], noise[-1]))
    p = rows_after(target, tokens, guesses)
    for i, x in enumerate(guesses):
        if not paid(x, p[i], q[i], rng):
            return guesses[:i] + [race(np.maximum(p[i] - q[i], 0), noise[i])]
    return guesses + [draw(p[-1], rng)]


def all_residuals_first(target, draft, tokens, gamma, rng):
    """Draws every replacement before it is known whether one is needed."""
    guesses, q = [], []
    for _ in range(gamma):
        x, law = fresh(draft, tokens, guesses, rng)
        guesses.append(x)
        q.append(law)
    p = rows_after(target, tokens, guesses)
    with np.errstate(invalid="ignore"):
        spare = [draw(scaled(np.maximum(a - b, 0)), rng) for a, b in zip(p, q)]
    for i, x in enumerate(guesses):
        if not paid(x, p[i], q[i], rng):
            return guesses[:i] + [spare[i]]
    return guesses + [draw(p[-1], rng)]


def stacked(target, draft, tokens, gamma, rng):
    """Stacks what the draft said: nothing to stack when there is no guess."""
    np.stack([draft(tokens)[-1] for _ in range(gamma)])
    return RIGHT(target, draft, tokens, gamma, rng)


def end_of_draft_trusted(target, draft, tokens, gamma, rng, end):
    """A guessed end is written without a test."""
    return Round(keep=lambda x, p, q, rng: x == end or paid(x, p, q, rng))(
        target, draft, tokens, gamma, rng)
