"""How fast certainty comes: many rounds at once, beside one at a time, beside the exact law.

judged_many is the round of course.speculative (Leviathan et al. 2023, Algorithm 1) for many guesses
of one pair of laws. It is compared with _speculative_sampling of transformers, which judges one
sequence a call. Then sampling itself is compared with course.exact. Left out: models that give each
sequence its own laws, several threads.
"""
import inspect
import itertools
from collections import Counter

import numpy as np

from course import exact, stats
from course.machine import CLOCK
from course.models import rambler, remembered
from course.speculative import DUST, generate, speculate

GAMMA, V = 4, 20  # of the Monte Carlo comparison
CHUNK = 20_000  # rounds at once: their arrays stay in the cache
ALARM = 1e-6
SMALLEST = 0.005  # distance that sampling is to catch


def judged_many(guesses, p, q, rng):
    """How many guesses of each row are kept (N,), and the token that is drawn after them (N,).

    guesses (N, gamma) ints, column i drawn from q[i]; p (gamma + 1, V) and q (gamma, V) float64
    laws. The rule is that of course.speculative.speculate, a rejection with nothing owed included.
    """
    (n, gamma), size = guesses.shape, p.shape[1]
    if p.shape != (gamma + 1, size) or q.shape != (gamma, size):
        raise ValueError(f"p {p.shape} and q {q.shape} for {gamma} guesses: give p (gamma + 1, V) "
                         "and q (gamma, V)")
    owed = np.maximum(p[:-1] - q, 0.0)
    nothing = owed.max(axis=1) <= DUST  # (gamma,)
    alive, kept = np.ones(n, bool), np.zeros(n, np.intp)
    for i in range(gamma):
        x = guesses[:, i]
        alive &= (rng.random(n) * q[i].take(x) < p[i].take(x)) | nothing[i]
        kept += alive
    rows = np.vstack([np.where(nothing[:, None], p[:-1], owed), p[-1:]])
    up = rows.cumsum(axis=1)  # (gamma + 1, V); all rows in one line, 2 apart, searched at once
    up /= up[:, -1:]
    up[up == 1] = 1.5  # u + 2 kept may be rounded up to the end of its row: it stays inside
    up += 2 * np.arange(gamma + 1)[:, None]
    cell = up.ravel().searchsorted(rng.random(n) + 2 * kept, side="right")
    return kept, cell - size * kept


def drawn(q, n, rng):
    """n rows of guesses (n, gamma), column i drawn from q[i]."""
    return np.stack([rng.choice(q.shape[1], size=n, p=law) for law in q], axis=1)


def round_law(p, q):
    """The law {(kept, next token): probability} of a round, from overlaps and what is owed."""
    law, reached = {}, 1.0
    for k, (row, guess) in enumerate(zip(p, [*q, 0 * p[-1]])):  # behind the last there is no guess
        law |= {(k, x): reached * w for x, w in enumerate(np.maximum(row - guess, 0.0).tolist())
                if w > 0}
        reached *= float(np.minimum(row, guess).sum())
    return law


def transformers_judge(p, q):
    """judge(tokens) -> (new tokens, kept) by transformers' own _speculative_sampling.

    It gets logits, as in its loop. Its fifth argument has changed its meaning: False there was once
    "not done", and now keeps every guess. So nothing is handed on by place beyond four.
    """
    import torch
    from transformers.generation.utils import _speculative_sampling as theirs
    with np.errstate(divide="ignore"):
        draft, target = (torch.from_numpy(np.log(a)).float()[None] for a in (q, p))
    known = inspect.signature(theirs).parameters
    gamma, extra = len(q), {"is_done_candidate": False} if "is_done_candidate" in known else {}

    def judge(tokens):  # a tensor (1, gamma); gives tensors: (1, kept + 1), and kept
        return theirs(tokens, draft, gamma, target, **extra)
    return judge


def checked(outcomes, law, name):
    """The least distance that so many outcomes catch with power .999; RuntimeError if they fail.

    outcomes: pairs (kept, next token). One test of course.stats at the alarm level 1e-6.
    """
    pairs = [(int(k), int(x)) for k, x in outcomes]
    if forbidden := [pair for pair in pairs if law.get(pair, 0.0) == 0]:
        raise RuntimeError(f"{name}: the law forbids (kept, next) = {forbidden[0]}")
    half = len(pairs) // 2
    tail = stats.smallest_tail([Counter(pairs[:half]), Counter(pairs[half:])], law)
    if tail.chance < ALARM / tail.of:
        raise RuntimeError(f"{name} does not follow the law of a round: {tail.outcome} came "
                           f"{tail.seen} times, expected {tail.expected:.1f}")
    return float(stats.smallest_distance(law, len(pairs), ALARM))


def _rate(job, calls):
    """Calls a second of job(i) for i in range(calls)."""
    start = CLOCK()
    for i in range(calls):
        job(i)
    return calls / (CLOCK() - start)


def _judges(p, q, calls, rng):
    """The three ways by name: a function of the call's number, and rounds a call."""
    import torch
    theirs, many = transformers_judge(p, q), drawn(q, CHUNK, rng)
    alone = many[:calls, None]  # (calls, 1, gamma)
    tensors = [torch.from_numpy(row) for row in alone]
    return {"many": (lambda i: judged_many(many, p, q, rng), CHUNK),
            "one": (lambda i: judged_many(alone[i], p, q, rng), 1),
            "theirs": (lambda i: theirs(tensors[i]), 1)}


def _as_expected(judges, p, q, calls, chunks=5):
    """Both sides against the law of a round: the least distances that are caught."""
    law = round_law(p, q)
    ours = [pair for i in range(chunks) for pair in zip(*judges["many"][0](i))]
    tokens = [judges["theirs"][0](i) for i in range(calls)]
    theirs = [(int(kept), int(new[0, -1])) for new, kept in tokens]
    return checked(ours, law, "judged_many"), checked(theirs, law, "transformers")


def montecarlo(seed, repeats=5, calls=2000):
    """Rounds a second of judged_many over calls a second of transformers' _speculative_sampling.

    Both judge gamma = 4 given guesses by laws over V = 20 tokens, and draw the next token; in turns
    on one thread, medians of paired ratios. "montecarlo_vs_transformers" judges 20 000 sequences at
    once, "montecarlo_one_sequence" one a call, as theirs does. Before that both sides must follow
    the law of a round, else RuntimeError; the distance that this catches is among the figures.
    """
    import torch
    from peer import one_thread
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(V), GAMMA + 1), rng.dirichlet(np.ones(V), GAMMA)
    judges = _judges(p, q, calls, rng)
    rates = {name: [] for name in judges}
    with one_thread():
        torch.manual_seed(seed)
        caught = _as_expected(judges, p, q, calls)  # which also warms them up
        for _, (name, (job, rounds)) in itertools.product(range(repeats), judges.items()):
            rates[name].append(rounds * _rate(job, 10 if rounds > 1 else calls // 4))
    many, one, theirs = (np.array(rates[name]) for name in ("many", "one", "theirs"))
    return {"montecarlo_vs_transformers": float(np.median(many / theirs)),
            "montecarlo_one_sequence": float(np.median(one / theirs)),
            "montecarlo_rounds_a_second": float(np.median(many)),
            "montecarlo_one_sequence_rounds_a_second": float(np.median(one)),
            "montecarlo_transformers_calls_a_second": float(np.median(theirs)),
            "montecarlo_distance_caught": caught[0],
            "montecarlo_distance_caught_transformers": caught[1],
            "montecarlo_sequences": CHUNK, "montecarlo_gamma": GAMMA, "montecarlo_V": V,
            "montecarlo_seed": seed, "montecarlo_repeats": repeats}


def _seconds_a_run(target, draft, n_new, gamma, runs, seed):
    """Seconds of one generation of n_new tokens, counted; models that answer from memory."""
    def job(rng):
        return generate(target, draft, [0], n_new, gamma, rng)[1:]
    stats.count(job, runs // 5, seed)  # fills the memory
    start = CLOCK()
    stats.count(job, runs, seed)
    return (CLOCK() - start) / runs


def exact_vs_sampling(seed, repeats=3, n_new=6, gamma=2, runs=1000):
    """How much longer sampling takes to be sure of course.speculative than course.exact does.

    A generation of n_new = 6 tokens, gamma = 2, V = 3, models that look at the whole text. Exact:
    the seconds, a median, to enumerate both laws and find their distance below 1e-12. Sampling is
    not run to its end: the runs that catch a distance of .005 with power .999 at alarm level 1e-6
    (stats.runs_needed) times the measured seconds of one run, whose models answer from memory. It
    is the same loop, and the smaller certainty. Raises RuntimeError above 1e-12.
    """
    def models():
        return [rambler(3, 2 * seed + i, zeros=0.2) for i in (0, 1)]

    def both():
        target, draft = models()
        law = exact.joint(target, [0], n_new)
        return law, exact.generation_law(speculate, target, draft, [0], n_new, gamma)
    seconds = []
    for _ in range(repeats):
        start = CLOCK()
        law, emitted = both()
        off = stats.total_variation(law, emitted)
        seconds.append(CLOCK() - start)
    if not off < stats.EXACT:
        raise RuntimeError(f"the law of the loop is off by {off:.2g}: there is nothing to compare")
    a_run = _seconds_a_run(*map(remembered, models()), n_new, gamma, runs, seed)
    needed, exactly = stats.runs_needed(law, SMALLEST, ALARM), float(np.median(seconds))
    return {"exact_vs_sampling": a_run * needed / exactly, "exact_seconds": exactly,
            "exact_distance": float(off), "exact_paths": emitted.paths,
            "exact_outcomes": len(law), "exact_tokens": n_new, "exact_gamma": gamma,
            "sampling_seconds": a_run * needed, "sampling_runs": int(needed),
            "sampling_seconds_a_run": a_run, "sampling_distance": SMALLEST,
            "sampling_power": stats.POWER, "sampling_alarm": ALARM, "exact_seed": seed}
