"""Loops around rounds: generate(target, draft, prompt, n_new, gamma, rng, end=None).

The first is right, whatever its round does. At the end: rules for a law that the reader wants in
place of the target's; wanted(model) is a model.
"""
import numpy as np

from course.rules.judges import end_of_draft_trusted
from course.rules.rounds import RIGHT, Round, by_coin, draw, fresh, misjudged, scaled


def looped(round, target, draft, prompt, n_new, gamma, rng, end=None):
    """generate with this round: the loop is right, whatever the round does."""
    tokens, length = list(prompt), len(prompt) + n_new
    while len(tokens) < length:
        for x in round(target, draft, list(tokens), gamma, rng)[:length - len(tokens)]:
            tokens.append(x)
            if x == end:
                return tokens
    return tokens


def looks_at_last_only(target, draft, prompt, n_new, gamma, rng, end=None):
    tokens, length = list(prompt), len(prompt) + n_new
    while len(tokens) < length and (len(tokens) == len(prompt) or tokens[-1] != end):
        tokens += RIGHT(target, draft, tokens, gamma, rng)
    return tokens[:length]


def ignores_end(target, draft, prompt, n_new, gamma, rng, end=None):
    return looped(RIGHT, target, draft, prompt, n_new, gamma, rng)


def drops_the_end(target, draft, prompt, n_new, gamma, rng, end=None):
    tokens = looped(RIGHT, target, draft, prompt, n_new, gamma, rng, end)
    return tokens[:-1] if tokens[len(prompt):] and tokens[-1] == end else tokens


def trusts_drafted_end(target, draft, prompt, n_new, gamma, rng, end=None):
    def round(*args):
        return end_of_draft_trusted(*args, end)
    return looped(round, target, draft, prompt, n_new, gamma, rng, end)


def end_in_prompt(target, draft, prompt, n_new, gamma, rng, end=None):
    """Looks for the end in the whole text, the prompt included."""
    if end in prompt:
        return list(prompt)
    return looped(RIGHT, target, draft, prompt, n_new, gamma, rng, end)


def never_cut(target, draft, prompt, n_new, gamma, rng, end=None):
    tokens = list(prompt)
    while len(tokens) < len(prompt) + n_new:
        tokens += RIGHT(target, draft, tokens, gamma, rng)
        if end in tokens[len(prompt):]:
            return tokens[:tokens.index(end, len(prompt)) + 1]
    return tokens


def counts_rounds(target, draft, prompt, n_new, gamma, rng, end=None):
    """Counts gamma + 1 tokens for every round, rejected ones included."""
    tokens = list(prompt)
    for _ in range(-(-n_new // (gamma + 1))):
        tokens += RIGHT(target, draft, tokens, gamma, rng)
    return tokens[:len(prompt) + n_new]


class Tape:
    """An rng whose coins come from a list, which grows when it is at its end."""

    def __init__(self, coins, rng):
        self.coins, self.rng, self.at = coins, rng, 0

    def random(self):
        self.at += 1
        if self.at > len(self.coins):
            self.coins.append(self.rng.random())
        return self.coins[self.at - 1]

    def choice(self, n, p):
        return by_coin(p, self.random())


def reseeded(target, draft, prompt, n_new, gamma, rng, end=None):
    """A new generator with the same seed in every round."""
    coins = []
    return looped(lambda *args: RIGHT(*args[:-1], Tape(coins, rng)),
                  target, draft, prompt, n_new, gamma, rng, end)


def fixed_seed(target, draft, prompt, n_new, gamma, rng, end=None):
    """A generator of its own, made with the same seed every time."""
    return looped(RIGHT, target, draft, prompt, n_new, gamma, np.random.default_rng(0), end)


def stale_after_first(propose):
    """From the second round on the draft has not read the last token."""
    def loop(target, draft, prompt, n_new, gamma, rng, end=None):
        def round(target, draft, tokens, gamma, rng):
            late = len(tokens) > len(prompt)
            return Round(propose if late else fresh)(target, draft, tokens, gamma, rng)
        return looped(round, target, draft, prompt, n_new, gamma, rng, end)
    return loop


def bonus_forgotten(target, draft, prompt, n_new, gamma, rng, end=None):
    """The bonus is written, and the models never read it."""
    tokens, read = list(prompt), list(prompt)
    while len(tokens) < len(prompt) + n_new:
        new = RIGHT(target, draft, read, gamma, rng)
        tokens += new
        read += new[:gamma] or new
    return tokens[:len(prompt) + n_new]


# ---- rules for a law that the reader wants
def row_of(wanted, law):
    """What wanted makes of one law."""
    return wanted(lambda tokens: np.tile(law, (len(tokens), 1)))([0])[-1]


def plain_target(wanted):
    """Tempers the draft alone."""
    def round(target, draft, tokens, gamma, rng):
        return RIGHT(target, wanted(draft), tokens, gamma, rng)
    return round


def late_cut(wanted):
    """Cuts what is drawn at the end of a round, not what the guesses are judged by."""
    return Round(
        redraw=lambda x, p, q, rng: [draw(row_of(wanted, scaled(np.maximum(p - q, 0))), rng)],
        bonus=lambda p, draft, text, rng: [draw(row_of(wanted, p[-1]), rng)])


def raw_q(wanted):
    """Draws the guess from the law that is wanted of the draft and judges it by the raw q."""
    def round(target, draft, tokens, gamma, rng):
        return Round(propose=misjudged(lambda q: row_of(wanted, q)))(
            wanted(target), draft, tokens, gamma, rng)
    return round
