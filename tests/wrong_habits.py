"""Wrong rules that go wrong between the parts: what is handed on, counted, read or drawn again.

HABITS: as RULES of wrong_rules.
"""
import numpy as np
from wrong_rules import RULES, kept, one_round, owed, pick, rule

FIRST = len(RULES)


def guessed(draft, tokens, gamma, rng):
    """(text with the guesses, their laws)."""
    text, q = list(tokens), []
    for _ in range(gamma):
        q.append(draft(text)[-1])
        text.append(pick(q[-1], rng))
    return text, q


@rule("acceptance")
def favourite_is_always_kept(*a):
    return one_round(*a, keep=lambda p, q, x, rng: x == p.argmax() or kept(p, q, x, rng))


@rule("acceptance")
def kept_if_above_the_mean(*a):
    return one_round(*a, keep=lambda p, q, x, rng: p[x] > 1 / len(p))


@rule("acceptance")
def product_of_all_ratios(target, draft, tokens, gamma, rng):
    """Judges the block by the product so far, and pays as if it were judged one by one."""
    product = [1.0]

    def keep(p, q, x, rng):
        product[0] *= p[x] / q[x]
        return rng.random() < product[0]
    return one_round(target, draft, tokens, gamma, rng, keep=keep)


@rule("residual")
def nothing_behind_kept_guesses(target, draft, tokens, gamma, rng):
    """After a later rejection the kept guesses alone are written, and the round ends."""
    text, q = guessed(draft, tokens, gamma, rng)
    n, p = len(tokens), target(text)[len(tokens) - 1:]
    for i, x in enumerate(text[n:]):
        if not kept(p[i], q[i], x, rng):
            return text[n:n + i] or [pick(owed(p[0], q[0]), rng)]
    return text[n:] + [pick(p[-1], rng)]


@rule("proposal")
def order_of_the_sorted_law_forgotten(*a):
    return one_round(*a, reshape=lambda q: np.sort(q)[::-1],
                     keep=lambda p, q, x, rng: q[x] == 0 or kept(p, q, x, rng))


@rule("target")
def rare_tokens_cut(*a):
    target, n = a[0], len(a[2])
    return one_round(*a, rows=lambda t: [np.where(row < 0.2 * row.max(), 0, row)
                                         for row in target(t)[n - 1:]])


@rule("position")
def target_reads_two_tokens(*a):
    target, n = a[0], len(a[2])
    return one_round(*a, rows=lambda t: [target(t[max(0, m - 2):m])[-1]
                                         for m in range(n, len(t) + 1)])


@rule("bonus")
def bonus_from_the_mean_row(*a):
    return one_round(*a, bonus=lambda p: np.mean(p, axis=0))


@rule("rollback")
def one_kept_guess_dropped(target, draft, tokens, gamma, rng):
    text, q = guessed(draft, tokens, gamma, rng)
    n, p = len(tokens), target(text)[len(tokens) - 1:]
    for i, x in enumerate(text[n:]):
        if not kept(p[i], q[i], x, rng):
            return text[n:n + max(i - 1, 0)] + [pick(owed(p[i], q[i]), rng)]
    return text[n:] + [pick(p[-1], rng)]


@rule("rollback", "generate")
def draft_still_reads_the_rejected(target, draft, prompt, n_new, gamma, rng):
    text, read = list(prompt), list(prompt)
    while len(text) < len(prompt) + n_new:
        seen, q = guessed(draft, read, gamma, rng)
        guesses = seen[len(read):]
        p, q = target(text + guesses)[len(text) - 1:], draft(text + guesses)[len(text) - 1:]
        k = next((i for i, x in enumerate(guesses) if q[i][x] > 0
                  and not kept(p[i], q[i], x, rng)), gamma)
        last = pick(p[k] if k == gamma else owed(p[k], q[k]), rng)
        text, read = text + guesses[:k] + [last], seen + [last]
    return text[:len(prompt) + n_new]


@rule("randomness")
def coins_in_order(target, draft, tokens, gamma, rng):
    coins = iter(sorted(rng.random() for _ in range(gamma)))
    return one_round(target, draft, tokens, gamma, rng,
                     keep=lambda p, q, x, rng: next(coins) * q[x] < p[x])


@rule("randomness", "generate")
def one_set_of_test_coins_for_all_rounds(target, draft, prompt, n_new, gamma, rng):
    coins, text = rng.random(gamma), list(prompt)
    while len(text) < len(prompt) + n_new:
        turn = iter(coins)
        text += one_round(target, draft, text, gamma, rng,
                          keep=lambda p, q, x, rng, turn=turn: next(turn) * q[x] < p[x])
    return text[:len(prompt) + n_new]


@rule("randomness")
def seed_from_the_length(target, draft, tokens, gamma, rng):
    return one_round(target, draft, tokens, gamma, np.random.default_rng(len(tokens)))


@rule("stopping", "generate", end=1)
def cut_at_the_last_end(target, draft, prompt, n_new, gamma, rng, end=None):
    text = list(prompt)
    while len(text) < len(prompt) + n_new:
        text += one_round(target, draft, text, gamma, rng)
    new = text[len(prompt):len(prompt) + n_new]
    return list(prompt) + new[:len(new) - new[::-1].index(end) if end in new else len(new)]


@rule("numbers")
def token_behind_the_last(*a):
    """The residual is not scaled, and the draw falls off its end."""
    return one_round(*a[:4], a[4], keep=kept) if a[3] == 0 else _off_the_end(*a)


def _off_the_end(target, draft, tokens, gamma, rng):
    text, q = guessed(draft, tokens, gamma, rng)
    n, p = len(tokens), target(text)[len(tokens) - 1:]
    for i, x in enumerate(text[n:]):
        if not kept(p[i], q[i], x, rng):
            sums = np.cumsum(np.maximum(p[i] - q[i], 0))
            return text[n:n + i] + [int(np.searchsorted(sums, rng.random(), side="right"))]
    return text[n:] + [pick(p[-1], rng)]


HABITS = RULES[FIRST:]
del RULES[FIRST:]
