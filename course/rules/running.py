"""Entries about what happens after a rejection, about coins, about the end, and about numbers."""
import math

from course.rules import judges, loops
from course.rules.entry import Mistake
from course.rules.rounds import Round

ROLLBACK = [
    Mistake("keep-after-reject", "rollback", Round(judge=judges.keep_going),
            "After a rejection you go on with the later guesses. They were guessed and judged "
            "after a token that is no longer in the text: stop at the first rejection.",
            "vllm-project/vllm-ascend#11985, lucidrains/speculative-decoding#3"),
    Mistake("keep-rest-unchecked", "rollback", Round(judge=judges.keep_the_rest),
            "After a rejection you keep the later guesses as they are. They were guessed after a "
            "token that is no longer in the text, and nobody has judged them."),
    Mistake("rejected-left-in", "rollback", Round(judge=judges.leave_rejected_in),
            "The rejected guess stays in the text, in front of its replacement. Cut the guesses at "
            "the number that was kept.",
            "lucidrains/speculative-decoding#3, openvinotoolkit/openvino.genai#4190"),
    Mistake("bonus-after-rejection", "rollback", Round(judge=judges.bonus_after_rejection),
            "After a replacement you draw one token more. The row it comes from has read the "
            "rejected guess: a bonus is due only when all guesses were kept."),
    Mistake("whole-block-or-nothing", "rollback", Round(judge=judges.whole_block_or_nothing),
            "When one guess is rejected you throw away the kept ones before it. They had passed "
            "their tests: now tokens with lucky successors come out too often."),
    Mistake("bonus-forgotten", "rollback", loops.bonus_forgotten,
            "The bonus token is written, and the next round has not read it: hand on the whole "
            "text.",
            "vllm-project/vllm#5765", level="loop"),
]

RANDOMNESS = [
    Mistake("shared-coin", "randomness", Round(judge=judges.one_coin),
            "One coin u decides about all guesses of a round. Once the first is kept, u is known "
            "to be small, and the next are kept too often. Draw a new u for every guess."),
    Mistake("same-seed", "randomness", judges.same_stream,
            "The number that drew the guess also decides whether it is kept: two generators with "
            "one seed, or one number used twice. The two must be independent.",
            "vllm-project/vllm#47386, local-inference-lab/vllm#205"),
    Mistake("reseeded-rounds", "randomness", loops.reseeded,
            "Every round uses the same random numbers again: the generator is made anew inside the "
            "loop. Each round is right by itself, and together they are not.",
            "vllm-project/vllm#6034, vllm-project/vllm#13196", level="loop"),
    Mistake("fixed-seed", "randomness", loops.fixed_seed,
            "You never draw from rng: the same text comes out every time. Is a generator made "
            "inside, with a seed of its own?",
            "vllm-project/vllm#6034", level="loop"),
    Mistake("shared-noise", "randomness", judges.same_noise,
            "The replacement is drawn with the noise that picked the rejected guess. Given which "
            "guess won, that noise is no longer fresh: draw new noise.",
            "vllm-project/vllm#47386, vllm-project/vllm#54282"),
]

STOPPING = [
    Mistake("end-mid-block", "stopping", loops.looks_at_last_only,
            "You look for the end at the last token of a round only. An end in the middle of the "
            "round is followed by more tokens: cut right after the first end.",
            "huggingface/transformers#47912, LostRuins/koboldcpp#1276", level="loop"),
    Mistake("end-of-draft-trusted", "stopping", loops.trusts_drafted_end,
            "You stop where the draft proposes the end. The end is a token like any other and is "
            "kept with p / q: texts now end as often as the draft wants.",
            "openvinotoolkit/openvino.genai#3293, huggingface/transformers#28508", level="loop"),
    Mistake("end-ignored", "stopping", loops.ignores_end,
            "You never stop at the end token: nothing may follow its first appearance.",
            level="loop"),
    Mistake("end-in-prompt", "stopping", loops.end_in_prompt,
            "You look for the end in the prompt too. Only an end among the new tokens stops the "
            "text.",
            level="loop"),
    Mistake("end-dropped", "stopping", loops.drops_the_end,
            "You cut the end token itself off. The text stops right after it.", level="loop"),
    Mistake("too-many-tokens", "stopping", loops.never_cut,
            "You return more than n_new tokens. The length is looked at once a round, and a round "
            "writes up to γ + 1 tokens: cut the last one.",
            "ohdearquant/lattice#242, rohitg00/ai-engineering-from-scratch#185", level="loop",
            lossless=False),
    Mistake("too-few-tokens", "stopping", loops.counts_rounds,
            "You return fewer than n_new tokens. Count the tokens that were written: a round with "
            "a rejection writes less than γ + 1.", level="loop"),
    Mistake("endless", "stopping", Round(bonus=lambda p, draft, text, rng: []),
            "With γ = 0 your function never ends: no guess, no bonus, so a round writes nothing. "
            "A round draws one token from the target's last row after the guesses, also when "
            "there are none.",
            "ohdearquant/lattice#509"),
]

NUMBERS = [
    Mistake("eager-residual", "numbers", judges.all_residuals_first,
            "It fails where p equals q: the residual is all zeros there, and 0 / 0 is no law. "
            "Build the residual only after a rejection; where p equals q there is none.",
            "jaymody/speculative-sampling#5, youssofal/MTPLX#82", lossless=True),
    Mistake("gamma-zero", "numbers", judges.stacked,
            "It fails with γ = 0. No guess is a legal draft, and the round is then one draw from "
            "the target.",
            "vllm-project/vllm#7047, vllm-project/vllm#10969", lossless=True),
    Mistake("log-of-zero", "numbers", Round(
        keep=lambda x, p, q, rng: rng.random() < math.exp(math.log(p[x]) - math.log(q[x]))),
            "It fails where the target forbids a guess: p is 0 there, and has no logarithm, and "
            "nothing can be divided by it. Compare u · q with p."),
]
