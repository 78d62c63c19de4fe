"""How a learner's function is called: round by round, or for a whole text, with or without an end.

What is made here is the call(world, target, draft, prompt, rng) that course.marking.texts runs.
"""
import inspect
import numbers

from course.marking.answers import Fault, as_ints, shown

MOST_ROUNDS = 300  # for five tokens
LARGEST_END = 20  # as a token of the models on which a function is run
ROUND = ("target", "draft", "tokens", "gamma", "rng")
TEXT = ("target", "draft", "prompt", "n_new", "gamma", "rng")


def by_rounds(fn):
    """A call that has the whole text written by rounds of fn."""
    def call(world, target, draft, prompt, rng):
        tokens, rounds = list(prompt), 0
        while len(tokens) < len(world.prompt) + world.n_new:
            given, rounds = list(tokens), rounds + 1
            if rounds > MOST_ROUNDS:
                raise Fault("endless", "stopping", "")
            new = _block(fn(target, draft, given, world.gamma, rng), tokens, world.gamma)
            if given != tokens:
                prompt.clear()  # tells that the argument was changed
            tokens += new
        return tokens[:len(world.prompt) + world.n_new]
    return call


def _block(result, tokens, gamma):
    """The new tokens of one round. Raises Fault for too many, or none."""
    new = as_ints(result)
    if len(new) > gamma + 1:
        if new[:len(tokens)] == tuple(tokens):
            raise Fault("prompt-returned", "stopping",
                        "You return the whole text. A round returns the new tokens alone.")
        raise Fault("too-many-tokens", "stopping", f"With γ = {gamma} you return {len(new)} "
                    "tokens: a round writes γ + 1 at the most.")
    if not new and gamma == 0:
        raise Fault("endless", "stopping", "")
    return list(new)


def by_text(fn, end, takes):
    """A call that asks fn for the whole text; takes is what takes_end(fn, end) says."""
    def call(world, target, draft, prompt, rng):
        places, names = ([end], {}) if takes == "seventh" else ([], {"end": end})
        return fn(target, draft, prompt, world.n_new, world.gamma, rng, *places,
                  **names if takes == "named" else {})
    return call


def takes_end(fn, end):
    """How fn is handed the end: as "named" or "seventh" argument; "" for not at all.

    Where there is no end, only a function that insists on one is handed it, as None.
    """
    try:
        names = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return ""
    named = [x for x in names if x.name == "end" or x.kind == x.VAR_KEYWORD]
    places = [x for x in names if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    seventh = places[6:7] or [x for x in names if x.kind == x.VAR_POSITIONAL]
    if seventh and (seventh[0].default not in (None, inspect.Parameter.empty)
                    or any(x.default is x.empty for x in places[7:])):
        seventh = []  # a parameter with a value of its own, or with more behind it, is another
    found = named or seventh
    star = found and found[0].kind in (found[0].VAR_KEYWORD, found[0].VAR_POSITIONAL)
    if not found or (end is None and (star or found[0].default is None)):
        return ""
    return "named" if named else "seventh"


def known_end(end, takes):
    """The end to ask with, and what is wrong with this one, or ""."""
    if end is None or (isinstance(end, numbers.Integral) and 0 <= end <= LARGEST_END):
        return end, ""
    if not isinstance(end, numbers.Integral) or end < 0:
        return end, f"`end` is a token, an int from 0 on, and not {shown(end)}."
    return LARGEST_END, "" if takes else (  # any end will do
        f"The models of this check know few tokens, and {end} is none of them. Let your function "
        "take the end as a parameter.")
