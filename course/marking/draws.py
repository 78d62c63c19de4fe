"""How much was drawn between two moments of a run: from a Chooser, or from a numpy generator."""
from course.chooser import Chooser

LCG = 0x2360ED051FC65DA44385DF649FCCF645  # numpy's PCG64 multiplies its state by this


def drawn(rng):
    """A mark of how much has been drawn so far; draws_between tells two marks apart."""
    if type(rng) is Chooser:
        return len(rng.coins) + len(rng.picks)
    state = getattr(getattr(rng, "bit_generator", None), "state", {}).get("state", {})
    return (state.get("state", 0), state.get("inc", 0)) if isinstance(state, dict) else (0, 0)


def draws_between(first, last, most=64):
    """The number of draws between two marks; for a real generator the steps that its state took."""
    if isinstance(first, int):
        return last - first
    (state, inc), n = first, 0
    while state != last[0] and n < most:
        state, n = (state * LCG + inc) % 2**128, n + 1
    return n
