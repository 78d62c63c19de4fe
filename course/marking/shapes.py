"""Which idea does a law come from? Names for proposals, tests, replacements, told by value.

p, q and the laws given are arrays (V,). A name is an id of course.mistakes; "unknown" where none
fits. The parameter (a temperature, a threshold, a floor) may have any value.
"""
import numpy as np

from course.speculative import DUST


def near(a, b, slack):
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return a.shape == b.shape and bool((abs(a - b) <= slack).all())


def scaled(weights):
    total = np.sum(weights)
    return np.asarray(weights) / total if total > 0 else np.full(len(weights), np.nan)


def owed(p, q):
    """What a right rule draws from after a rejection; p itself where nothing is owed."""
    left = np.maximum(p - q, 0)
    return scaled(left) if left.max() > DUST else p


def paid(p, q):
    """How often a right rule keeps each token; 1 for those that q never proposes."""
    return np.minimum(1, np.divide(p, q, out=np.ones_like(p), where=q > 0))


def power(law, base, slack):
    """T if law is base ** (1 / T), scaled, over three tokens or more; else None."""
    both = (law > slack) & (base > slack)
    if both.sum() < 3 or not np.array_equal(law > slack, base > slack):
        return None
    x, y = np.log(base[both]), np.log(law[both])
    slope = np.polyfit(x, y, 1)[0]
    if not 0.01 < slope < 100:
        return None
    made = scaled(base ** slope)
    return 1 / slope if near(made, law, max(slack, 1e-6)) else None


def proposal(guess, q, slack):
    """The id of a proposal law that is not q."""
    if guess.max() > 1 - 1e-9:
        return "greedy-draft-soft-q"
    kept = guess > 0
    if not kept[q > slack].all():
        return "topk-draft-raw-q" if near(scaled(q * kept), guess, slack) else "unknown"
    if power(guess, q, slack) and abs(guess - q).max() > 0.02:
        return "tempered-draft-raw-q"
    return "rounded-draft" if near(guess, q, 0.04) else "unknown"


def acceptance(a, p, q, slack):
    """The id of a test that keeps token x with a[x]; nan where that is not known."""
    return acceptances(a, p, q, slack)[0]


def acceptances(a, p, q, slack):
    """All ids of tests that may keep token x with a[x], the likeliest first; ["unknown"] for none.
    """
    known, peak = np.isfinite(a), p.max()
    p, q, a, slack = p[known], q[known], a[known], np.broadcast_to(slack, known.shape)[known]
    ratio, over = paid(p, q), paid(p, q) < 1
    names = [name for name, value in {
        "accept-always": np.ones(len(p)), "accept-inverted": paid(q, p),
        "accept-flipped": 1 - ratio, "accept-target-probability": p,
        "accept-draft-probability": q, "accept-vs-max": p / peak,
        "accept-hard": p >= q, "accept-argmax": p == peak}.items() if near(a, value, slack)]
    sure = (a < slack) | (a > 1 - slack)
    if sure.all() and p[a < 0.5].max(initial=0) < p[a > 0.5].min(initial=2):
        return [*names, "accept-threshold"]
    lenience = a[over] / np.maximum(ratio[over], 1e-12)
    open_ = a[over] < 1 - slack[over]
    generous = (a[~over] > 1 - slack[~over]).all()
    if generous and open_.any() and np.ptp(
            lenience[open_]) < 20 * slack.max() and lenience[open_].min() > 1:
        names.append("accept-lenient")
    return names or ["unknown"]


def replacement(law, p, q, x, slack):
    """The id of a law that is drawn from after guess x was rejected."""
    return replacements(law, p, q, x, slack)[0]


def replacements(law, p, q, x, slack):
    """All ids of laws that may be this one, the likeliest first; ["unknown"] for none."""
    V, left = len(p), p - q
    rest = p * (np.arange(V) != x)
    short = np.maximum(left, 0)
    short[-1] += 1 - short.sum()
    names = [name for name, value in {
        "redraw-target": p, "redraw-draft": q, "retry-draft": scaled(np.minimum(p, q)),
        "residual-absolute": scaled(abs(left)), "residual-swapped": scaled(np.maximum(-left, 0)),
        "residual-argmax": np.eye(V)[left.argmax()], "redraw-argmax": np.eye(V)[p.argmax()],
        "redraw-others": scaled(rest), "redraw-uniform": np.full(V, 1 / V),
        "residual-unnormalised": short}.items() if near(law, value, slack)]
    rest = law[left <= 0]
    if len(rest) and np.ptp(rest) <= slack and slack < rest.min() and rest.max() < 0.25:
        names.append("residual-floor")
    return names or ["unknown"]


def bonus(law, p, earlier, q, slack):
    """The id of a bonus drawn from law, where it should be p; earlier are the target's rows before.
    """
    if any(near(law, row, slack) for row in earlier):
        return "bonus-wrong-row"
    if near(law, q, slack):
        return "bonus-from-draft"
    if near(law, np.eye(len(p))[p.argmax()], slack):
        return "bonus-argmax"
    return "bonus-from-residual" if near(law, owed(p, q), slack) else "unknown"
