"""One rule written in many ways: every choice below is free, and none may change the verdict."""
import numpy as np

COINS = {"u": lambda rng: rng.random(), "1 - u": lambda rng: 1 - rng.random(),
         "uniform": lambda rng: rng.uniform()}
TESTS = {"u * q < p": lambda u, p, q: u * q < p, "u < p / q": lambda u, p, q: u < p / q,
         "not >=": lambda u, p, q: not u >= p / q, "p > q * u": lambda u, p, q: p > q * u,
         "min": lambda u, p, q: u < min(1.0, p / q),
         "coin only if needed": lambda u, p, q: p >= q or u < p / q}
RESIDUALS = {"maximum": lambda p, q: np.maximum(p - q, 0), "clip": lambda p, q: (p - q).clip(0),
             "where": lambda p, q: np.where(p > q, p - q, 0.0),
             "list": lambda p, q: np.array([max(a - b, 0.0) for a, b in zip(p, q)]),
             "minus min": lambda p, q: p - np.minimum(p, q)}


def by_loop(w, rng):
    u, total = rng.random(), 0.0
    for x, share in enumerate(w[:-1]):
        total += share
        if u < total:
            return x
    return len(w) - 1


def last_positive(w, x):
    return min(x, int(np.flatnonzero(w)[-1]))


DRAWS = {"choice": lambda w, rng: int(rng.choice(len(w), p=w)),
         "choice of list": lambda w, rng: rng.choice(list(range(len(w))), p=list(w)),
         "loop": lambda w, rng: last_positive(w, by_loop(w, rng)),
         "searchsorted": lambda w, rng: last_positive(
             w, int(np.searchsorted(np.cumsum(w), rng.random(), side="right"))),
         "count": lambda w, rng: last_positive(w, int(sum(np.cumsum(w)[:-1] <= rng.random()))),
         "multinomial": lambda w, rng: int(rng.multinomial(1, w).argmax())}
SHAPES = ("for", "while", "all tests first")
ROWS = ("one call", "one call a row", "two calls")
ANSWERS = {"list": list, "tuple": tuple, "array": np.array}


def variant(seed, tests=TESTS, residuals=RESIDUALS):
    """(name, round): speculate, its parts chosen by seed; with other tests or residuals, wrong."""
    rng = np.random.default_rng(seed)

    def pick(options):
        return list(options)[rng.integers(len(options))]
    names = [pick(c) for c in (COINS, tests, residuals, DRAWS, DRAWS, SHAPES, ROWS, ANSWERS)]
    coin, test, left, draw, redraw = (c[n] for c, n in zip(
        (COINS, tests, residuals, DRAWS, DRAWS), names))
    shape, look, answer = names[5], names[6], ANSWERS[names[7]]

    def owed(p, q):
        w = left(p, q)
        return w / w.sum()

    def rows(target, text, n):
        if look == "one call a row":
            return [target(text[:n + i])[-1] for i in range(len(text) - n + 1)]
        if look == "two calls" and len(text) > n:
            return [*target(text[:-1])[n - 1:], target(text)[-1]]
        return target(text)[n - 1:]

    def round(target, draft, tokens, gamma, rng):
        text, q, n = list(tokens), [], len(tokens)
        for _ in range(gamma):
            q.append(draft(text)[-1])
            text.append(draw(q[-1], rng))
        p, guesses, i = rows(target, text, n), text[n:], 0
        if shape == "all tests first":
            kept = [test(coin(rng), p[i][x], q[i][x]) for i, x in enumerate(guesses)]
            i = kept.index(False) if not all(kept) else gamma
        elif shape == "while":
            while i < gamma and test(coin(rng), p[i][guesses[i]], q[i][guesses[i]]):
                i += 1
        else:
            for i, x in enumerate([*guesses, None]):
                if x is None or not test(coin(rng), p[i][x], q[i][x]):
                    break
        last = draw(p[i], rng) if i == gamma else redraw(owed(p[i], q[i]), rng)
        return answer([int(x) for x in guesses[:i]] + [int(last)])
    return " | ".join(names), round
