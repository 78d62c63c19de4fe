"""Wrong rules that the catalogue does not contain, of every family: what else one may write.

RULES: (family, name of the check, function, options of the check).
"""
import numpy as np

RULES = []


def rule(family, check="speculate", **options):
    def add(fn):
        RULES.append((family, check, fn, options))
        return fn
    return add


def pick(weights, rng):
    """A draw by the inverse of the running sum."""
    return int(np.searchsorted(np.cumsum(weights / weights.sum())[:-1], rng.random(), side="right"))


def owed(p, q):
    left = np.clip(p - q, 0, None)
    return left if left.sum() > 1e-12 else p


def kept(p, q, x, rng):
    return rng.random() * q[x] < p[x]


def one_round(target, draft, tokens, gamma, rng, *, reshape=lambda q: q, rows=None, keep=kept,
              redraw=lambda p, q, nxt: owed(p, q), bonus=lambda p: p[-1]):
    """A round as a learner writes it, with one thing open."""
    text, q = list(tokens), []
    for _ in range(gamma):
        q.append(draft(text)[-1])
        text.append(pick(reshape(q[-1]), rng))
    p = (rows or (lambda t: target(t)[len(tokens) - 1:]))(text)
    for i, x in enumerate(text[len(tokens):]):
        if not keep(p[i], q[i], x, rng):
            return text[len(tokens):len(tokens) + i] + [pick(redraw(p[i], q[i], p[i + 1]), rng)]
    return text[len(tokens):] + [pick(bonus(p), rng)]


def loop(prompt, n_new, args):
    tokens = list(prompt)
    while len(tokens) < len(prompt) + n_new:
        tokens += one_round(args[0], args[1], tokens, *args[2:])
    return tokens


@rule("residual")
def residual_squared(*a):
    return one_round(*a, redraw=lambda p, q, nxt: owed(p, q) ** 2)


@rule("residual")
def redraw_from_the_average(*a):
    return one_round(*a, redraw=lambda p, q, nxt: p + q)


@rule("residual")
def redraw_p_where_p_is_above(*a):
    return one_round(*a, redraw=lambda p, q, nxt: np.where(p > q, p, 0) if (p > q).any() else p)


@rule("residual")
def smaller_floor(*a):
    return one_round(*a, redraw=lambda p, q, nxt: np.maximum(p - q, 1e-3))


@rule("residual")
def residual_of_the_next_row(*a):
    return one_round(*a, redraw=lambda p, q, nxt: owed(nxt, q))


@rule("acceptance")
def root_of_the_ratio(*a):
    return one_round(*a, keep=lambda p, q, x, rng: rng.random() < np.sqrt(p[x] / q[x]))


@rule("acceptance")
def a_little_lenient(*a):
    return one_round(*a, keep=lambda p, q, x, rng: rng.random() < 1.15 * p[x] / q[x])


@rule("acceptance")
def higher_threshold(*a):
    return one_round(*a, keep=lambda p, q, x, rng: p[x] >= 0.35)


@rule("acceptance")
def half_a_coin(*a):
    return one_round(*a, keep=lambda p, q, x, rng: rng.random() / 2 < p[x] / q[x])


@rule("acceptance")
def by_the_difference(*a):
    return one_round(*a, keep=lambda p, q, x, rng: rng.random() < 1 - (q[x] - p[x]))


@rule("proposal")
def hotter_draft_raw_q(*a):
    return one_round(*a, reshape=lambda q: q ** 0.4)


@rule("proposal")
def stirred_draft_raw_q(*a):
    return one_round(*a, reshape=lambda q: np.where(q > 0, 0.8 * q + 0.2 / len(q), 0))


@rule("proposal")
def all_guesses_from_one_row(target, draft, tokens, gamma, rng):
    q, n = draft(tokens)[-1], len(tokens)
    text = list(tokens) + [pick(q, rng) for _ in range(gamma)]
    p, q = target(text)[n - 1:], draft(text)[n - 1:]
    for i, x in enumerate(text[n:]):
        if q[i][x] > 0 and not kept(p[i], q[i], x, rng):
            return text[n:n + i] + [pick(owed(p[i], q[i]), rng)]
    return text[n:] + [pick(p[-1], rng)]


@rule("target")
def colder_target(target, draft, tokens, gamma, rng):
    return one_round(target, draft, tokens, gamma, rng,
                     rows=lambda t: (target(t) ** 1.3 / (target(t) ** 1.3).sum(
                         axis=1, keepdims=True))[len(tokens) - 1:])


@rule("position")
def last_guess_unchecked(target, draft, tokens, gamma, rng):
    calls = []

    def keep(p, q, x, rng):
        calls.append(x)
        return len(calls) == gamma > 1 or kept(p, q, x, rng)
    return one_round(target, draft, tokens, gamma, rng, keep=keep)


@rule("position")
def rows_from_the_start(target, draft, tokens, gamma, rng):
    return one_round(target, draft, tokens, gamma, rng, rows=lambda t: target(t))


@rule("bonus")
def bonus_from_two_rows(*a):
    return one_round(*a, bonus=lambda p: p[-1] + p[0])


@rule("bonus")
def bonus_flattened(*a):
    return one_round(*a, bonus=lambda p: np.sqrt(p[-1]))


@rule("rollback")
def next_guess_comes_along(target, draft, tokens, gamma, rng):
    seen = []
    new = one_round(target, draft, tokens, gamma, rng,
                    rows=lambda t: (seen.append(t[len(tokens):]), target(t)[len(tokens) - 1:])[1])
    return new + seen[0][len(new):len(new) + 1]


@rule("rollback")
def bonus_whatever_happens(target, draft, tokens, gamma, rng):
    last = []
    new = one_round(target, draft, tokens, gamma, rng,
                    rows=lambda t: (last.append(target(t)), last[0][len(tokens) - 1:])[1])
    return new + [pick(last[0][-1], rng)] if len(new) <= gamma else new


@rule("randomness")
def test_and_redraw_share_a_coin(target, draft, tokens, gamma, rng):
    class Last:
        def random(self):
            self.u = rng.random()
            return self.u
    coin = Last()
    text, n, q = list(tokens), len(tokens), []
    for _ in range(gamma):
        q.append(draft(text)[-1])
        text.append(pick(q[-1], rng))
    p = target(text)[n - 1:]
    for i, x in enumerate(text[n:]):
        if not kept(p[i], q[i], x, coin):
            left = owed(p[i], q[i])
            where = int(sum(np.cumsum(left / left.sum())[:-1] <= coin.u))
            return text[n:n + i] + [where]
    return text[n:] + [pick(p[-1], rng)]


@rule("randomness")
def bonus_from_the_last_coin(target, draft, tokens, gamma, rng):
    coins = []

    def keep(p, q, x, rng):
        coins.append(rng.random())
        return coins[-1] * q[x] < p[x]

    class Again:
        def random(self):
            return coins[-1] if coins else rng.random()
    new = one_round(target, draft, tokens, gamma, rng, keep=keep)
    text = [*tokens, *new[:-1]]
    return new if len(new) <= gamma else new[:-1] + [pick(target(text)[-1], Again())]


@rule("stopping", "generate")
def one_token_short(target, draft, prompt, n_new, gamma, rng):
    return loop(prompt, n_new, (target, draft, gamma, rng))[:len(prompt) + max(n_new - 1, 0)]


@rule("stopping", "generate")
def not_cut(target, draft, prompt, n_new, gamma, rng):
    return loop(prompt, n_new, (target, draft, gamma, rng))


@rule("stopping", "generate", end=1)
def ends_before_the_end(target, draft, prompt, n_new, gamma, rng, end=None):
    new = loop(prompt, n_new, (target, draft, gamma, rng))[len(prompt):len(prompt) + n_new]
    return list(prompt) + (new[:new.index(end)] if end in new else new)


@rule("stopping", "generate", end=2)
def ends_one_token_late(target, draft, prompt, n_new, gamma, rng, end=None):
    new = loop(prompt, n_new, (target, draft, gamma, rng))[len(prompt):len(prompt) + n_new]
    return list(prompt) + (new[:new.index(end) + 2] if end in new else new)


@rule("numbers")
def fails_on_a_zero(*a):
    return one_round(*a, keep=lambda p, q, x, rng: rng.random() < 1 / (float(q[x]) / float(p[x])))


# ---- faults that begin with the second guess, or with the third
def late(at, keep=kept, redraw=owed):
    """A round whose test or replacement is another from guess number `at` on."""
    def round(target, draft, tokens, gamma, rng):
        text, q, n = list(tokens), [], len(tokens)
        for _ in range(gamma):
            q.append(draft(text)[-1])
            text.append(pick(q[-1], rng))
        p = target(text)[n - 1:]
        for i, x in enumerate(text[n:]):
            test, left = (keep, redraw) if i >= at else (kept, owed)
            if not test(p[i], q[i], x, rng):
                return text[n:n + i] + [pick(left(p[i], q[i]), rng)]
        return text[n:] + [pick(p[-1], rng)]
    return round


@rule("residual")
def favourite_owed_from_the_second_guess_on(*a):
    return late(1, redraw=lambda p, q: np.eye(len(p))[(p - q).argmax()])(*a)


@rule("residual")
def favourite_owed_at_the_third_guess(*a):
    return late(2, redraw=lambda p, q: np.eye(len(p))[(p - q).argmax()])(*a)


@rule("acceptance")
def no_coin_from_the_second_guess_on(*a):
    return late(1, keep=lambda p, q, x, rng: p[x] >= q[x])(*a)
