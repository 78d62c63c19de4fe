"""Entries about what is drawn after a rejection, and about the test."""
import numpy as np

from course.rules.entry import Mistake, accept_if, redraw_from
from course.rules.rounds import Round, by_coin, draw, scaled
from course.speculative import DUST

LEVELS = 16  # of the coarse coin in accept-boundary
FLOOR, LENIENCE, THRESHOLD = 0.01, 1.5, 0.15


def without(law, x):
    rest = law * (np.arange(len(law)) != x)
    return scaled(rest) if rest.sum() > 0 else law


RESIDUAL = [
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

ACCEPTANCE = [
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
