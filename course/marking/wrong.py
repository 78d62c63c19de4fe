"""The Mark of a function whose law is wrong: which idea it is, and the smallest case that shows it.
"""
from course.marking.anatomy import PLACES
from course.marking.diagnose import FAMILY_SAYS, why_wrong
from course.marking.mishaps import Mark
from course.marking.worlds import EXAMPLE, EXAMPLE_P, EXAMPLE_Q
from course.mistakes import CATALOGUE

DUSTY = 5e-4  # a law nearer than this smells of a small number added somewhere


def wrong_mark(evidences, wrong, tv, want):
    """The Mark of a function whose law is off by tv, in the worlds of the evidence `wrong`."""
    strange = _no_token(wrong)
    if strange:
        return strange
    if any(len(x) < e.world.n_new for e in wrong for x in e.law) and want.end is None:
        return Mark("too-few-tokens", "stopping", CATALOGUE["too-few-tokens"].reason)
    finding, off, evidence = why_wrong(evidences, wrong, want)
    if finding.kind not in CATALOGUE and tv < DUSTY and all(e.exact for e in wrong):
        return Mark("epsilon", "numbers", f"Your law is off by {tv:.1g}: nearly right, not exact. "
                    "Is a small number added to a denominator, or a number rounded to float32? "
                    "Compare u · q with p, which needs no division.")
    known = CATALOGUE.get(finding.kind)
    reason = known.reason if known else FAMILY_SAYS[finding.family]
    return Mark(finding.kind, finding.family, f"{reason} {_where(off, evidence, wrong, want)}")


def _no_token(wrong):
    """The Mark of a function that writes a number that is no token; None if all are tokens."""
    for evidence in wrong:
        V, world = evidence.world.V, evidence.world
        odd = next((x for text in sorted(evidence.law) for x in text if not 0 <= x < V), None)
        if odd is not None:
            return Mark("no-such-token", "numbers", f"With γ = {world.gamma} and n_new = "
                        f"{world.n_new} your text holds {odd}, and the tokens are 0 to {V - 1}. "
                        "Does a draw fall off the end of a law that adds up to less than 1, or "
                        "does an index count backwards?")
    return None


def _where(off, evidence, wrong, want):
    """The smallest counterexample, from the learner's own function."""
    example = next((e for e in wrong if e.world.name == EXAMPLE and not want.wanted), None)
    if example or off is None:
        evidence = example or evidence
        law, wanted = evidence.law, evidence.wanted
        text = max(sorted(law), key=lambda x: law[x] - wanted.get(x, 0.0))
        if example:
            p, q = (", ".join(map(str, law)) for law in (EXAMPLE_P, EXAMPLE_Q))
            said = f"token {text[0]}" if text else "nothing"
            return f"For p = ({p}) and q = ({q}) yours writes {said} with probability " + _against(
                law[text], wanted.get(text, 0.0))
        return (f"With γ = {evidence.world.gamma} the text {list(text)} comes with probability "
                + _against(law[text], wanted.get(text, 0.0)))
    before = f"after the new tokens {list(off.before)}, " if off.before else ""
    return (f"It shows first with γ = {evidence.world.gamma}, at {PLACES[off.place]}: {before}"
            f"token {off.token} comes with probability " + _against(off.got, off.wanted))


def _against(got, wanted):
    """Two probabilities with as many digits as tell them apart."""
    digits = next((d for d in range(3, 12) if round(got, d) != round(wanted, d)), 12)
    return f"{got:.{digits}f}, and the target wants {wanted:.{digits}f}."
