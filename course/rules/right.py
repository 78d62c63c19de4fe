"""Entries that are right. Most are slower than need be, and their reason says what they cost."""
import numpy as np

from course.rules import judges
from course.rules.entry import Mistake
from course.rules.loops import stale_after_first
from course.rules.rounds import (
    RIGHT,
    Round,
    draw,
    favourite,
    from_other,
    heated,
    last_row,
    scaled,
    stale,
)

RIGHT_ONES = [
    Mistake("right", "", RIGHT,
            "Kept guesses pay min(p, q), the residual pays what is owed, and together that is p: "
            "for every text and any draft.",
            "arXiv 2211.17192, arXiv 2302.01318", lossless=True, ok=True),
    Mistake("sample-and-match", "", Round(judge=judges.match),
            "Lossless, and slower: every token you write is the target's own draw. A guess "
            "survives with Σ p·q, and the ratio test would keep Σ min(p, q).",
            "lablup/mlxcel#992, ml-explore/mlx-lm#1709", lossless=True, ok=True),
    Mistake("plain", "", judges.plain,
            "Every token is drawn from the target's own row. The draft is never asked: lossless, "
            "and one pass of the target for each token.",
            lossless=True, ok=True),
    Mistake("own-guesses", "", judges.own_guesses,
            "Lossless, and the draft is never asked: your guesses come from elsewhere. Any guess "
            "is allowed as long as it is judged by the law it was drawn from.",
            lossless=True, ok=True),
    Mistake("keeps-nothing", "", Round(keep=lambda x, p, q, rng: False,
                                       redraw=lambda x, p, q, rng: [draw(p, rng)]),
            "Lossless, and slower than no draft at all: every token is drawn from the target's own "
            "row, and no guess is ever kept.",
            lossless=True, ok=True),
    Mistake("keeps-less", "", Round(keep=lambda x, p, q, rng: p[x] >= q[x],
                                    redraw=lambda x, p, q, rng: [
                                        draw(scaled(p - np.where(p >= q, q, 0)), rng)]),
            "Lossless, and slower: you keep a guess less often than with min(1, p / q), and pay "
            "the rest after a rejection.",
            lossless=True, ok=True),
    Mistake("block", "", judges.block,
            "Lossless, and faster than the usual rule: you judge the guesses of a round together, "
            "and keep more of them than one by one (block verification).",
            "arXiv 2403.10444", lossless=True, ok=True),
    Mistake("point-mass", "", Round(propose=lambda draft, tokens, guesses, rng: (
        lambda q: (int(q.argmax()), favourite(q)))(draft(tokens + guesses)[-1])),
            "Lossless, and usually slower: you treat the guess as certain, q = 1, so it is kept "
            "with p(x) and the others share the rest. A guess drawn from q would be kept with Σ "
            "min(p, q).",
            "SafeAILab/EAGLE#93", lossless=True, ok=True),
    Mistake("no-bonus", "", Round(bonus=lambda p, draft, text, rng:
                                  [] if len(p) > 1 else last_row(p, draft, text, rng)),
            "Lossless, and slower: when all guesses are kept you stop there. The target's last "
            "row is computed already and gives one token more for nothing.",
            "ohdearquant/lattice#509, vllm-project/vllm#5765", lossless=True, ok=True),
    Mistake("stale-draft", "", stale_after_first(stale),
            "Lossless, and slower: when the draft guesses, it has not read all of the text. Any "
            "guess is allowed as long as q is the law it was drawn from; it is rejected more "
            "often.",
            "vllm-project/vllm#9730, lablup/mlxcel#994", level="loop", lossless=True, ok=True),
    Mistake("stale-draft-always", "", Round(propose=stale),
            "Lossless, and slower: when the draft guesses, it has not read all of the text. Any "
            "guess is allowed as long as q is the law it was drawn from; it is rejected more "
            "often.",
            "vllm-project/vllm#9730", lossless=True, ok=True),
    Mistake("hotter-draft", "", Round(propose=from_other(lambda q: heated(q, 2.0))),
            "Lossless, and usually slower: you draw the guesses from a flatter law than the "
            "draft's own, and judge them by that law. The text is the target's, the guesses are "
            "kept less often.",
            "z-lab/dflash#74", lossless=True, ok=True),
    Mistake("colder-draft", "", Round(propose=from_other(lambda q: heated(q, 0.5))),
            "Lossless, and usually slower: you draw the guesses from a sharper law than the "
            "draft's own, and judge them by that law. The text is the target's, the guesses are "
            "kept less often.",
            "z-lab/dflash#74", lossless=True, ok=True),
]
