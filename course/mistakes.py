"""The catalogue of wrong rules, and of rules that look wrong and are right.

Most wrong rules differ from speculate in one place: what is guessed and which q is believed, which
rows of p are looked at, the test, what is drawn after a rejection, the bonus, where the round
stops. So an entry is a Round with one part exchanged; some exchange the loop around the rounds.
Every entry says why it fails, on the learner's own terms, and where the fault was reported in
public. A link names a report of the same kind, not a project whose code is copied: all rules are
written here. Left out: trees, batches and caches. Parameters (a floor, a temperature, a threshold)
are samples of their kind; course.marking.diagnose recognises the kind at other values.
"""
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from course.exact import generation_law, law
from course.speculative import DUST

LEVELS = 16  # of the coarse coin in accept-boundary
FLOOR, LENIENCE, THRESHOLD = 0.01, 1.5, 0.15
FAMILIES = ("residual", "acceptance", "proposal", "target", "position", "bonus", "rollback",
            "randomness", "stopping", "numbers")


# ---- drawing and reshaping laws
def draw(law, rng):
    return int(rng.choice(len(law), p=law))


def by_coin(weights, u):
    """The bucket of weights (V,) that u falls into; what is missing goes to the last one."""
    return next((x for x, c in enumerate(np.cumsum(weights)[:-1]) if u < c), len(weights) - 1)


def scaled(weights):
    return weights / weights.sum()


def heated(law, T):
    return scaled(law ** (1 / T))


def top(law, k):
    return scaled(np.where(law >= np.sort(law)[-k], law, 0.0))


def one_hot(x, V):
    return np.eye(V)[x]


def rounded(law):
    """The law as logits with eight significant bits give it; 20 is the size of real logits."""
    with np.errstate(divide="ignore"):
        mantissa, exponent = np.frexp(np.where(law > 0, np.log(law) + 20, -np.inf))
    return scaled(np.exp(np.ldexp(np.round(mantissa * 256) / 256, exponent) - 20))


# ---- the parts of a right round
def fresh(draft, tokens, guesses, rng):
    """(guess, q): drawn from the draft's law after everything so far, and q is that law."""
    q = draft(tokens + guesses)[-1]
    return draw(q, rng), q


def rows_after(target, tokens, guesses):
    """(gamma + 1, V): row i is the target's law after tokens + guesses[:i]."""
    return target(tokens + guesses)[len(tokens) - 1:]


def paid(x, p, q, rng):
    return rng.random() * q[x] < p[x]


def owed(x, p, q, rng):
    left = np.maximum(p - q, 0)
    return [draw(scaled(left) if left.max() > DUST else p, rng)]


def last_row(p, draft, text, rng):
    return [draw(p[-1], rng)]


def stop_at_rejection(part, guesses, p, q, bonus, rng):
    for i, x in enumerate(guesses):
        if not part.keep(x, p[i], q[i], rng):
            return guesses[:i] + part.redraw(x, p[i], q[i], rng)
    return guesses + bonus()


@dataclass(frozen=True)
class Round:
    """speculate in parts: each can be exchanged, and as it stands the round is right."""

    propose: Callable = fresh
    look: Callable = rows_after
    keep: Callable = paid
    redraw: Callable = owed
    bonus: Callable = last_row
    judge: Callable = stop_at_rejection

    def __call__(self, target, draft, tokens, gamma, rng):
        guesses, q = [], []
        for _ in range(gamma):
            x, believed = self.propose(draft, tokens, guesses, rng)
            guesses.append(x)
            q.append(believed)
        p = self.look(target, tokens, guesses)
        return self.judge(self, guesses, p, q,
                          lambda: self.bonus(p, draft, tokens + guesses, rng), rng)


def looped(round, target, draft, prompt, n_new, gamma, rng, end=None):
    """generate with this round: the loop is right, whatever the round does."""
    tokens, length = list(prompt), len(prompt) + n_new
    while len(tokens) < length:
        for x in round(target, draft, list(tokens), gamma, rng)[:length - len(tokens)]:
            tokens.append(x)
            if x == end:
                return tokens
    return tokens


# ---- other proposals: (guess, the q that is believed)
def from_other(law_of):
    """Drawn from law_of(q) and judged by that same law: right, whatever law_of is."""
    def propose(draft, tokens, guesses, rng):
        q = law_of(draft(tokens + guesses)[-1])
        return draw(q, rng), q
    return propose


def misjudged(law_of):
    """Drawn from law_of(q), judged by q."""
    def propose(draft, tokens, guesses, rng):
        q = draft(tokens + guesses)[-1]
        return draw(law_of(q), rng), q
    return propose


def stale(draft, tokens, guesses, rng):
    q = draft(tokens[:-1] + guesses or tokens)[-1]
    return draw(q, rng), q


def stale_then_fresh(draft, tokens, guesses, rng):
    return stale(draft, tokens, guesses, rng)[0], draft(tokens + guesses)[-1]


def favourite(q):
    return one_hot(q.argmax(), len(q))


# ---- other ways through the guesses
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


# ---- other loops: generate(target, draft, prompt, n_new, gamma, rng, end=None)
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


# ---- rules for a law that the reader wants in place of the target's: wanted(model) is a model
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


RIGHT = Round()


class Mistake(NamedTuple):
    """One entry. level says what rule is: a "round", a "loop", or "wanted": rule(wanted) is a
    round."""

    id: str
    family: str  # "" for a right rule
    rule: Callable
    reason: str  # to the learner, about this very answer
    report: str = "none known"  # owner/repository#number on github.com
    level: str = "round"
    lossless: bool = False
    ok: bool = False

    def generate(self, target, draft, prompt, n_new, gamma, rng, end=None):
        """The rule as a function by the contract of generate."""
        if self.level == "loop":
            return self.rule(target, draft, prompt, n_new, gamma, rng, end)
        return looped(self.rule, target, draft, prompt, n_new, gamma, rng, end)


def accept_if(test):
    return Round(keep=test)


def redraw_from(law_of):
    return Round(redraw=lambda x, p, q, rng: [draw(law_of(p, q), rng)])


def without(law, x):
    rest = law * (np.arange(len(law)) != x)
    return scaled(rest) if rest.sum() > 0 else law


_RESIDUAL = [
    Mistake("redraw-target", "residual", redraw_from(lambda p, q: p),
            "After a rejection you draw from p. The kept guesses have already paid min(p, q), so "
            "the tokens that the draft proposes too often are paid twice. What is owed is max(p − "
            "q, 0).",
            "ShopeeLLM/Spec-RL#14, eth-sri/language-model-arithmetic#14"),
    Mistake("redraw-draft", "residual", redraw_from(lambda p, q: q),
            "After a rejection you draw from q again. What is missing lies where p is above q, and "
            "there q gives too little: the text leans towards the draft."),
    Mistake("retry-draft", "residual", redraw_from(
        lambda p, q: scaled(np.minimum(p, q)) if (np.minimum(p, q) > 0).any() else p),
            "After a rejection you guess again until a guess is kept. Then only kept guesses are "
            "written, and their law is min(p, q) / α, not p."),
    Mistake("residual-absolute", "residual", redraw_from(
        lambda p, q: scaled(abs(p - q)) if abs(p - q).max() > DUST else p),
            "Your residual is |p − q|. Where q is above p nothing is owed: with the absolute "
            "value the rejected tokens come back."),
    Mistake("residual-swapped", "residual", redraw_from(
        lambda p, q: scaled(np.maximum(q - p, 0)) if abs(p - q).max() > DUST else p),
            "Your residual is max(q − p, 0): it pays the tokens that the draft already gave too "
            "often. It must be max(p − q, 0); the two papers use the letters p and q the other "
            "way round.",
            "feifeibear/LLMSpeculativeSampling#36, alibaba/rtp-llm#1311"),
    Mistake("residual-argmax", "residual",
            Round(redraw=lambda x, p, q, rng: [int((p - q).argmax())]),
            "After a rejection you take the token that is owed most. It must be drawn: now one "
            "token gets everything that is owed to several.",
            "EricLBuehler/mistral.rs#2424"),
    Mistake("redraw-argmax", "residual",
            Round(redraw=lambda x, p, q, rng: [int(p.argmax())]),
            "After a rejection you take the target's favourite. What is owed must be drawn, from "
            "max(p − q, 0), and the favourite may be owed nothing."),
    Mistake("residual-unnormalised", "residual",
            Round(redraw=lambda x, p, q, rng: [by_coin(np.maximum(p - q, 0), rng.random())]),
            "You did not divide the residual by its sum. Its entries add up to less than 1, and "
            "the rest of the draw falls onto the last token.",
            "ml-explore/mlx-examples#1291, OptimalScale/LMFlow#630"),
    Mistake("residual-floor", "residual", redraw_from(
        lambda p, q: scaled(np.maximum(p - q, FLOOR))),
            "You keep the residual above a small floor. Tokens that are owed nothing can come out: "
            "clip at 0, and treat the case that nothing is owed by itself.",
            "vllm-project/vllm#13933"),
    Mistake("redraw-others", "residual",
            Round(redraw=lambda x, p, q, rng: [draw(without(p, x), rng)]),
            "After a rejection you draw from p without the rejected token. That is right for a "
            "guess that was certain. A guess drawn from q leaves max(p − q, 0) to be paid."),
    Mistake("redraw-uniform", "residual",
            Round(redraw=lambda x, p, q, rng: [draw(np.full(len(p), 1 / len(p)), rng)]),
            "After a rejection you draw any token with equal chance. What is owed is max(p − q, "
            "0)."),
    Mistake("no-replacement", "residual", Round(redraw=lambda x, p, q, rng: []),
            "After a rejection you write nothing in its place and guess again. Only kept guesses "
            "are written: what is owed to the other tokens is never paid."),
]

_ACCEPTANCE = [
    Mistake("accept-inverted", "acceptance", accept_if(
        lambda x, p, q, rng: rng.random() * p[x] < q[x]),
            "You keep a guess with probability q / p. Turn it over: p / q. Now the tokens that the "
            "draft proposes too often are always kept.",
            "feifeibear/LLMSpeculativeSampling#36"),
    Mistake("accept-flipped", "acceptance", accept_if(
        lambda x, p, q, rng: rng.random() * q[x] > p[x]),
            "Your comparison is the wrong way round: you keep the guess where u is above p / q. A "
            "guess that the target likes more than the draft does is then never kept."),
    Mistake("accept-hard", "acceptance", accept_if(lambda x, p, q, rng: p[x] >= q[x]),
            "You keep a guess only if p is at least q, without a coin. A token that is proposed "
            "too often must still be kept with probability p / q: now it never comes out.",
            "vllm-project/vllm-project.github.io#80"),
    Mistake("accept-always", "acceptance", accept_if(lambda x, p, q, rng: True),
            "You keep every guess. Then the guessed tokens follow the draft's law q."),
    Mistake("accept-target-probability", "acceptance", accept_if(
        lambda x, p, q, rng: rng.random() < p[x]),
            "You keep a guess with probability p(x). How rarely the draft proposes x has to be "
            "made good: the chance is p(x) / q(x)."),
    Mistake("accept-draft-probability", "acceptance", accept_if(
        lambda x, p, q, rng: rng.random() < q[x]),
            "You keep a guess with probability q(x). The chance is p(x) / q(x)."),
    Mistake("accept-lenient", "acceptance", accept_if(
        lambda x, p, q, rng: rng.random() * q[x] < LENIENCE * p[x]),
            "You keep guesses more often than p / q allows. That is lenience: faster, and not the "
            "target's law."),
    Mistake("accept-vs-max", "acceptance", accept_if(
        lambda x, p, q, rng: rng.random() < p[x] / p.max()),
            "You divide p(x) by the target's largest probability. The denominator must be q(x), "
            "the probability with which x was proposed.",
            "1bit-MONSTER/1bit-MONSTER#637"),
    Mistake("accept-threshold", "acceptance", Round(
        keep=lambda x, p, q, rng: p[x] > THRESHOLD,
        redraw=lambda x, p, q, rng: [draw(p, rng)]),
            "You keep every guess whose probability is above a threshold (typical acceptance). "
            "Among the tokens above it the text follows the draft.",
            "vllm-project/vllm#5131, vllm-project/vllm#5015, youssofal/MTPLX#478"),
    Mistake("accept-argmax", "acceptance", Round(
        keep=lambda x, p, q, rng: x == p.argmax(),
        redraw=lambda x, p, q, rng: [draw(p, rng)]),
            "You keep a guess if it is the target's favourite. That is the test of greedy "
            "decoding: when tokens are drawn, the favourite gets q on top of its share.",
            "lablup/mlxcel#902, pegainfer-project/pegainfer#512"),
    Mistake("match-and-redraw", "acceptance", Round(
        keep=lambda x, p, q, rng: draw(p, rng) == x,
        redraw=lambda x, p, q, rng: [draw(p, rng)]),
            "You compare the guess with a draw from p, and if they differ you draw once more. "
            "Write the very token that you compared: with a second draw the tokens that both "
            "models like come out too often.",
            "ml-explore/mlx-swift-lm#459, foundation-model-stack/fms-extras#12"),
    Mistake("accept-boundary", "acceptance", accept_if(
        lambda x, p, q, rng: rng.random() < (np.floor(LEVELS * p[x] / q[x]) + 1) / LEVELS),
            "Your test lets a tie pass, and the coin can be exactly 0: then a token with p = 0 is "
            "kept. Compare strictly: u · q < p.",
            "sgl-project/sglang#35771, sgl-project/sglang#35798"),
]

_PROPOSAL = [
    Mistake("greedy-draft-soft-q", "proposal", Round(propose=misjudged(favourite)),
            "Your draft proposes its favourite, always, and you divide by the softmax q(x). The "
            "law it was drawn from is one-hot: divide by 1, or draw the guess from q.",
            "huggingface/transformers#32867, jaymody/speculative-sampling#3, z-lab/dflash#74"),
    Mistake("tempered-draft-raw-q", "proposal", Round(propose=misjudged(lambda q: heated(q, 0.5))),
            "You draw the guess from the tempered draft and divide by the q before the "
            "temperature. q must be the law that x was drawn from.",
            "huggingface/transformers#47932, huggingface/transformers#47961"),
    Mistake("topk-draft-raw-q", "proposal", Round(propose=misjudged(lambda q: top(q, 2))),
            "You draw the guess after the top-k cut and divide by the q before it. Scale q over "
            "the tokens that were kept: that is the law x was drawn from.",
            "huggingface/transformers#47932"),
    Mistake("stale-draft-fresh-q", "proposal", stale_after_first(stale_then_fresh),
            "The draft guessed without reading the last token, and you divide by a q that has "
            "read it. x was not drawn from that q.",
            "vllm-project/vllm#9730, vllm-project/vllm#40269", level="loop"),
    Mistake("stale-draft-fresh-q-always", "proposal", Round(propose=stale_then_fresh),
            "The draft guessed without reading the last token, and you divide by a q that has "
            "read it. x was not drawn from that q.",
            "vllm-project/vllm#9730"),
    Mistake("rounded-draft", "proposal", Round(propose=misjudged(rounded)),
            "You draw the guess from rounded numbers and divide by the exact q. Use one and the "
            "same q for the draw and for the test.",
            "deepseek-ai/DeepSpec#31, deepseek-ai/DeepSpec#48"),
]

_TARGET = [
    Mistake("tempered-target", "target", Round(
        look=lambda target, tokens, guesses: [heated(row, 0.5) for row in
                                              rows_after(target, tokens, guesses)]),
            "You judge by another law than the target's own: a temperature, or a cut, that nobody "
            "asked for."),
    Mistake("target-untempered", "target", plain_target,
            "The temperature, or the cut, reaches the draft only. The guesses are judged by the "
            "target as it is, so the text follows that and not the law that was wanted.",
            "vllm-project/vllm#9834, vllm-project/vllm#10198", level="wanted"),
    Mistake("cut-at-the-end-only", "target", late_cut,
            "You cut only what is drawn after a rejection and as a bonus. The guesses are checked "
            "against the full p, so tokens outside the cut get through.",
            "vllm-project/vllm#13933, vllm-project/vllm#15063, vllm-project/vllm#32107",
            level="wanted"),
    Mistake("reshaped-draft-raw-q", "proposal", raw_q,
            "You draw the guess from the reshaped draft and divide by the raw q. q must be the law "
            "that x was drawn from, after the temperature and after the cut.",
            "huggingface/transformers#47932", level="wanted"),
]

_POSITION = [
    Mistake("rows-shifted", "position", Round(look=lambda target, tokens, guesses: [
        target((tokens + guesses)[:len(tokens) + i - 1] or tokens)[-1]
        for i in range(len(guesses) + 1)]),
            "Your rows of p are one position early. Guess i is judged by the row after the text "
            "and the first i guesses.",
            "NVIDIA/TensorRT-LLM#15098, huggingface/transformers#28166"),
    Mistake("rows-late", "position", Round(look=lambda target, tokens, guesses: [
        *rows_after(target, tokens, guesses)[1:], target(tokens + guesses)[-1]]),
            "Your rows of p are one position late: guess i is judged by the row that has already "
            "read it."),
    Mistake("first-unverified", "position", Round(judge=first_unchecked),
            "The first guess is written without a test, so it follows q. The test begins with "
            "guess 0.",
            "ohdearquant/lattice#243"),
    Mistake("judged-by-first-row", "position", Round(judge=judged_by_first_row),
            "You judge every guess by the first row of p. Guess i has its own row, the one after "
            "the guesses before it."),
]

_BONUS = [
    Mistake("bonus-wrong-row", "bonus", Round(bonus=lambda p, draft, text, rng: [
        draw(p[max(len(p) - 2, 0)], rng)]),
            "Your bonus token is drawn from the row that judged the last guess. Draw it from the "
            "next row, which has read that guess.",
            "vllm-project/vllm#8320, alibaba/rtp-llm#1295"),
    Mistake("bonus-from-draft", "bonus", Round(bonus=lambda p, draft, text, rng: [
        draw(draft(text)[-1], rng)]),
            "Your bonus token comes from the draft, and nobody checks it. Draw it from the "
            "target's last row.",
            "dphnAI/sonar#1101"),
    Mistake("bonus-argmax", "bonus", Round(bonus=lambda p, draft, text, rng: [int(p[-1].argmax())]),
            "Your bonus token is the target's favourite. It must be drawn from the last row."),
    Mistake("bonus-from-residual", "bonus", Round(bonus=lambda p, draft, text, rng: owed(
        0, p[-1], draft(text)[-1], rng)),
            "Your bonus token is drawn from a residual. No guess stood at its place, so nothing "
            "has been paid: draw it from p itself."),
]

_ROLLBACK = [
    Mistake("keep-after-reject", "rollback", Round(judge=keep_going),
            "After a rejection you go on with the later guesses. They were guessed and judged "
            "after a token that is no longer in the text: stop at the first rejection.",
            "vllm-project/vllm-ascend#11985, lucidrains/speculative-decoding#3"),
    Mistake("keep-rest-unchecked", "rollback", Round(judge=keep_the_rest),
            "After a rejection you keep the later guesses as they are. They were guessed after a "
            "token that is no longer in the text, and nobody has judged them."),
    Mistake("rejected-left-in", "rollback", Round(judge=leave_rejected_in),
            "The rejected guess stays in the text, in front of its replacement. Cut the guesses at "
            "the number that was kept.",
            "lucidrains/speculative-decoding#3, openvinotoolkit/openvino.genai#4190"),
    Mistake("bonus-after-rejection", "rollback", Round(judge=bonus_after_rejection),
            "After a replacement you draw one token more. The row it comes from has read the "
            "rejected guess: a bonus is due only when all guesses were kept."),
    Mistake("whole-block-or-nothing", "rollback", Round(judge=whole_block_or_nothing),
            "When one guess is rejected you throw away the kept ones before it. They had passed "
            "their tests: now tokens with lucky successors come out too often."),
    Mistake("bonus-forgotten", "rollback", bonus_forgotten,
            "The bonus token is written, and the next round has not read it: hand on the whole "
            "text.",
            "lablup/mlxcel#994", level="loop"),
]

_RANDOMNESS = [
    Mistake("shared-coin", "randomness", Round(judge=one_coin),
            "One coin u decides about all guesses of a round. Once the first is kept, u is known "
            "to be small, and the next are kept too often. Draw a new u for every guess."),
    Mistake("same-seed", "randomness", same_stream,
            "The number that drew the guess also decides whether it is kept: two generators with "
            "one seed, or one number used twice. The two must be independent.",
            "vllm-project/vllm#47386, local-inference-lab/vllm#205"),
    Mistake("reseeded-rounds", "randomness", reseeded,
            "Every round uses the same random numbers again: the generator is made anew inside the "
            "loop. Each round is right by itself, and together they are not.",
            "vllm-project/vllm#6034, vllm-project/vllm#13196", level="loop"),
    Mistake("shared-noise", "randomness", same_noise,
            "The replacement is drawn with the noise that picked the rejected guess. Given which "
            "guess won, that noise is no longer fresh: draw new noise.",
            "vllm-project/vllm#47386, vllm-project/vllm#54282"),
]

_STOPPING = [
    Mistake("end-mid-block", "stopping", looks_at_last_only,
            "You look for the end at the last token of a round only. An end in the middle of the "
            "round is followed by more tokens: cut right after the first end.",
            "huggingface/transformers#47912, LostRuins/koboldcpp#1276", level="loop"),
    Mistake("end-of-draft-trusted", "stopping", trusts_drafted_end,
            "You stop where the draft proposes the end. The end is a token like any other and is "
            "kept with p / q: texts now end as often as the draft wants.",
            "openvinotoolkit/openvino.genai#3293, huggingface/transformers#28508", level="loop"),
    Mistake("end-ignored", "stopping", ignores_end,
            "You never stop at the end token: nothing may follow its first appearance.",
            level="loop"),
    Mistake("end-in-prompt", "stopping", end_in_prompt,
            "You look for the end in the prompt too. Only an end among the new tokens stops the "
            "text.",
            level="loop"),
    Mistake("end-dropped", "stopping", drops_the_end,
            "You cut the end token itself off. The text stops right after it.", level="loop"),
    Mistake("too-many-tokens", "stopping", never_cut,
            "You return more than n_new tokens. The length is looked at once a round, and a round "
            "writes up to γ + 1 tokens: cut the last one.",
            "ohdearquant/lattice#242, rohitg00/ai-engineering-from-scratch#185", level="loop",
            lossless=False),
    Mistake("too-few-tokens", "stopping", counts_rounds,
            "You return fewer than n_new tokens. A round with a rejection writes less than γ + 1: "
            "count what was written.", level="loop"),
    Mistake("endless", "stopping", Round(bonus=lambda p, draft, text, rng: []),
            "With γ = 0 your function never ends: no guess, no bonus, so a round writes nothing. "
            "A round draws one token from the target's last row after the guesses, also when "
            "there are none.",
            "ohdearquant/lattice#509"),
]

_NUMBERS = [
    Mistake("eager-residual", "numbers", all_residuals_first,
            "It fails where p equals q: the residual is all zeros there, and 0 / 0 is no law. "
            "Build the residual only after a rejection; where p equals q there is none.",
            "jaymody/speculative-sampling#5, youssofal/MTPLX#82", lossless=True),
    Mistake("gamma-zero", "numbers", stacked,
            "It fails with γ = 0. No guess is a legal draft, and the round is then one draw from "
            "the target.",
            "vllm-project/vllm#7047, vllm-project/vllm#10969", lossless=True),
]

_RIGHT = [
    Mistake("right", "", RIGHT,
            "Kept guesses pay min(p, q), the residual pays what is owed, and together that is p: "
            "for every text and any draft.",
            "arXiv 2211.17192, arXiv 2302.01318", lossless=True, ok=True),
    Mistake("sample-and-match", "", Round(judge=match),
            "Right, and slower: every token you write is the target's own draw, so nothing is "
            "biased. A guess survives with Σ p·q, and the ratio test would keep Σ min(p, q).",
            "lablup/mlxcel#992, ml-explore/mlx-lm#1709", lossless=True, ok=True),
    Mistake("point-mass", "", Round(propose=lambda draft, tokens, guesses, rng: (
        lambda q: (int(q.argmax()), favourite(q)))(draft(tokens + guesses)[-1])),
            "Right, and usually slower: you treat the guess as certain, q = 1, so it is kept with "
            "p(x) and the others share the rest. A guess drawn from q would be kept with Σ min(p, "
            "q).",
            "SafeAILab/EAGLE#93", lossless=True, ok=True),
    Mistake("no-bonus", "", Round(bonus=lambda p, draft, text, rng:
                                  [] if len(p) > 1 else last_row(p, draft, text, rng)),
            "Right, and slower: when all guesses are kept you stop there. The target's last row is "
            "computed already and gives one token more for nothing.",
            "ohdearquant/lattice#509, vllm-project/vllm#5765", lossless=True, ok=True),
    Mistake("stale-draft", "", stale_after_first(stale),
            "Right, and slower: the draft has not read the last token. Any guess is allowed as "
            "long as q is the law it was drawn from; it is only rejected more often.",
            "vllm-project/vllm#9730", level="loop", lossless=True, ok=True),
    Mistake("stale-draft-always", "", Round(propose=stale),
            "Right, and slower: the draft has not read the last token. Any guess is allowed as "
            "long as q is the law it was drawn from; it is only rejected more often.",
            "vllm-project/vllm#9730", lossless=True, ok=True),
    Mistake("hotter-draft", "", Round(propose=from_other(lambda q: heated(q, 2.0))),
            "Right, and usually slower: you draw the guesses from a flatter law than the draft's "
            "own, and judge them by that law. The text is the target's, the guesses are kept less "
            "often.",
            "z-lab/dflash#74", lossless=True, ok=True),
    Mistake("colder-draft", "", Round(propose=from_other(lambda q: heated(q, 0.5))),
            "Right, and usually slower: you draw the guesses from a sharper law than the draft's "
            "own, and judge them by that law. The text is the target's, the guesses are kept less "
            "often.",
            "z-lab/dflash#74", lossless=True, ok=True),
]

CATALOGUE = {entry.id: entry for entry in [
    *_RIGHT, *_RESIDUAL, *_ACCEPTANCE, *_PROPOSAL, *_TARGET, *_POSITION, *_BONUS, *_ROLLBACK,
    *_RANDOMNESS, *_STOPPING, *_NUMBERS]}
ALIASES = {"stale-draft-fresh-q-always": "stale-draft-fresh-q", "stale-draft-always": "stale-draft"}


def law_of(entry, target, draft, prompt, n_new, gamma, end=None, wanted=None, max_paths=20_000):
    """The exact Law of the tokens that an entry writes."""
    rule = entry.rule(wanted) if entry.level == "wanted" else entry.rule
    if entry.level != "loop":
        return generation_law(rule, target, draft, prompt, n_new, gamma, end, max_paths)
    return law(lambda rng: rule(target, draft, list(prompt), n_new, gamma, rng, end)[len(prompt):],
               max_paths)
