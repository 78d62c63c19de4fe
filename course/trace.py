"""One generation as a table: what was guessed, which coin was thrown, what was written.

It runs `course.speculative.speculate` itself, round by round, on a list of coins instead of a
random generator, and listens to the two models. The same coins give the same table in Python and in
the stepper, `course/widgets/stepper.js`. Left out: an end token.

The order of the coins, round after round:
1. one coin for each of the gamma guesses, in the order of their positions;
2. one coin for each test, from the first guess up to the first one that is not kept;
3. one coin for the last token of the round: the replacement, or the bonus if all were kept.
A draw by coin takes the first token at which the running sum of the law exceeds the coin.
"""
import numpy as np

from course.speculative import speculate


class Coins:
    """Stands in for a numpy Generator: every draw takes the next coin, 0 <= coin < 1, of a list."""

    def __init__(self, coins):
        self.coins, self.used = [float(u) for u in coins], 0
        wrong = [u for u in self.coins if not 0 <= u < 1]
        if wrong:
            raise ValueError(f"{wrong[0]} is no coin: a coin is a number from 0 to below 1")

    def random(self):
        """The next coin."""
        if self.used == len(self.coins):
            raise ValueError(f"all {self.used} coins are used up: give more of them, "
                             "coins_needed(gamma, n_new) are always enough")
        self.used += 1
        return self.coins[self.used - 1]

    def choice(self, a, p):
        """The first number at which the running sum of p, shape (a,), exceeds the next coin."""
        edges = np.cumsum(p)
        last = np.flatnonzero(p)[-1]  # the sum may end at 1 - 1e-16, below a coin
        return min(int(np.searchsorted(edges, self.random(), side="right")), int(last))


def coins_needed(gamma, n_new):
    """How many coins are enough, whatever happens: every round writes one token at least."""
    return n_new * (2 * gamma + 1)


def trace(target, draft, tokens, gamma, n_new, coins):
    """The rows of the table for n_new tokens after tokens, one dict a guess or bonus, in order.

    round counts from 1; position counts tokens from 0, prompt included; guess, p and q (both of the
    guess; of the token written, for a bonus), u; verdict is "kept", "replaced", "not looked at" or
    "bonus"; written is the token at that position. None stands for what does not exist: so a last
    round that goes beyond n_new has rows with nothing written. Coins: see above.
    """
    if n_new < 0:
        raise ValueError(f"n_new is {n_new}: it must be 0 or more")
    rng, text, table, turn = Coins(coins), list(tokens), [], 0
    length = len(text) + n_new
    while len(text) < length:
        turn, start, used, heard = turn + 1, len(text), rng.used, {"p": [], "q": []}
        new = speculate(_heard(target, heard["p"]), _heard(draft, heard["q"]), text, gamma, rng)
        thrown = rng.coins[used + gamma:rng.used - 1]  # the coins of the tests
        table += _round(heard, start, new, thrown, length, turn)
        text = (text + new)[:length]
    return table


def _heard(model, calls):
    """model, whose every call is noted in calls as (tokens, laws)."""
    def listening(tokens):
        laws = model(tokens)
        calls.append((list(tokens), np.asarray(laws, dtype=float)))
        return laws
    return listening


def _round(heard, start, new, thrown, length, turn):
    """The rows of one round that began at position start and wrote new."""
    (seen, p), = heard["p"]  # a round makes one target pass: anything else is an error here
    guesses, kept = seen[start:], len(new) - 1
    assert len(thrown) == min(kept + 1, len(guesses)), "one coin for each draw and each test"
    rows = []
    for i, x in enumerate(guesses):
        verdict = "kept" if i < kept else "replaced" if i == kept else "not looked at"
        rows.append({"round": turn, "position": start + i, "guess": x,
                     "p": float(p[start + i - 1, x]), "q": float(heard["q"][i][1][-1, x]),
                     "u": thrown[i] if i <= kept else None, "verdict": verdict,
                     "written": new[i] if i <= kept and start + i < length else None})
    if kept == len(guesses):
        x, last = new[-1], start + kept
        rows.append({"round": turn, "position": last, "guess": None, "p": float(p[-1, x]),
                     "q": None, "u": None, "verdict": "bonus",
                     "written": x if last < length else None})
    return rows


def cells(rows, names=None):
    """The table of trace() as rows of words, the head first; names are the words for the tokens."""
    def word(x):
        return "-" if x is None else str(x if names is None else names[x])

    def number(v):
        return "-" if v is None else f"{v:.2f}"

    head = ["round", "position", "guess", "p(x)", "q(x)", "u", "verdict", "written"]
    return [head] + [[str(r["round"]), str(r["position"]), word(r["guess"]), number(r["p"]),
                      number(r["q"]), number(r["u"]), r["verdict"], word(r["written"])]
                     for r in rows]


def columns(table):
    """Rows of words as lines of text in columns: print(columns(cells(trace(...), names)))."""
    wide = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    return "\n".join("  ".join(word.ljust(w) for word, w in zip(row, wide)).rstrip()
                     for row in table)
