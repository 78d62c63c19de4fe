"""How much faster the pair writes: the loop of lesson 06 on the decoders of lesson 09, timed.

One thread. The two ways to write take turns, prompt by prompt, so that a busy moment meets both;
what is reported is a median over prompts. The pass over the prompt is over before the clock starts.
"""
import itertools
import math
import statistics

import numpy as np

from course import tales
from course.decoder import as_model
from course.machine import CLOCK
from course.pair import encode
from course.speculative import autoregress, generate

PROMPT = 40  # tokens of a held-out tale that stand before what is written


def prompts(first, n):
    """n prompts, each the first PROMPT tokens of a tale that was held out of the training."""
    _, held = tales.split(20_000, 1_000)
    return [encode(tale)[:PROMPT] for tale in held[first:first + n]]


def median(values):
    """The median as a plain float."""
    return float(statistics.median(values))


def clocked(model):
    """model, with the `seconds` and the `lengths` (tokens of text) of its calls so far."""
    def call(tokens):
        start = CLOCK()
        laws = model(tokens)
        call.seconds.append(CLOCK() - start)
        call.lengths.append(len(tokens))
        return laws
    call.seconds, call.lengths = [], []
    return call


def begun(decoder, T, prompt):
    """A clocked model that has read the prompt but for its last token, as if in an earlier call."""
    model = clocked(as_model(decoder, T))
    model(prompt[:-1])
    model.seconds.clear()
    model.lengths.clear()
    return model


def kept_and_tested(lengths, gamma):
    """Guesses kept and guesses tested in all rounds but the last, which may have been cut short."""
    kept = np.diff(lengths) - 1  # a round adds what it kept and one token more
    return int(kept.sum()), int(np.minimum(kept + 1, gamma).sum())


def passes(target, positions, repeats=15, length=PROMPT + 50):
    """Median seconds {n: s} of one pass over n new positions behind so many cached ones."""
    rng = np.random.default_rng(0)
    target.rollback(0)
    target(list(rng.integers(1, target.V, length)))
    seconds = {n: [] for n in positions}
    for _, n in itertools.product(range(repeats), positions):
        new = list(rng.integers(1, target.V, n))
        start = CLOCK()
        target(new)
        seconds[n].append(CLOCK() - start)
        target.rollback(length)
    return {n: median(taken) for n, taken in seconds.items()}


def race(target, draft, prompt, n_new, gamma, T, seed):
    """One prompt written both ways: what it took, what was kept, and what the formula says."""
    plain = begun(target, T, prompt)
    start = CLOCK()
    alone = autoregress(plain, prompt, n_new, np.random.default_rng(seed))
    slow = CLOCK() - start
    judge, guess = begun(target, T, prompt), begun(draft, T, prompt)
    start = CLOCK()
    text = generate(judge, guess, prompt, n_new, gamma, np.random.default_rng(seed))
    fast = CLOCK() - start
    rounds, one = len(judge.seconds), median(plain.seconds)
    c, v = median(guess.seconds) / one, median(judge.seconds) / one
    per_round = n_new / rounds
    kept, tested = kept_and_tested(judge.lengths, gamma)
    return {"kept": kept, "tested": tested, "tokens_per_round": per_round, "c": c, "v": v,
            "speedup": slow / fast, "predicted": per_round / (gamma * c + v),
            "same_text": text == alone, "alone_ms": 1e3 * slow / n_new,
            "guessing_ms": 1e3 * fast / n_new}


def races(target, draft, texts, n_new, gamma, T, seed=1):
    """race() for every prompt, summed up: medians, and the least and greatest speed-up."""
    runs = [race(target, draft, prompt, n_new, gamma, T, [seed, i])
            for i, prompt in enumerate(texts)]
    found = {name: median([run[name] for run in runs]) for name in runs[0]}
    speedups = sorted(run["speedup"] for run in runs)
    kept, tested = (sum(run[name] for run in runs) for name in ("kept", "tested"))
    return found | {
        "gamma": gamma, "T": T, "prompts": len(runs), "tokens": n_new,
        "alpha": kept / tested if tested else math.nan,  # a text of one round tells nothing
        "least": speedups[0], "greatest": speedups[-1],
        "same_text": all(run["same_text"] for run in runs),
        "measured_over_predicted": median([run["speedup"] / run["predicted"] for run in runs])}
