"""Toy models, all of one type: model(tokens) -> (T, V), row t is the law of token t + 1.

A model sees a non-empty list of ints in range(V) and answers at every position at once, as a causal
transformer does: row t depends on tokens[:t + 1] alone. Left out: batches, caches and logits. A
model here is a plain function, so a reader's own function is as good as any of these.
"""
import functools
import operator

import numpy as np

SLACK = 1e-6  # float32 laws add up to 1 within this


def as_law(probs, name="probs"):
    """probs as a law, shape (V,), float64, adding up to 1. Raises ValueError with the mend."""
    law = np.asarray(probs, dtype=float)
    if law.ndim != 1 or not law.size:
        raise ValueError(f"{name} has shape {law.shape}: one law is a row of V numbers")
    return as_laws(law, name)


def as_laws(laws, name):
    """The array laws, whose last axis holds laws, scaled to add up to 1 in float64.

    Raises ValueError if it is off by more than float32 rounding explains.
    """
    low, total = laws.min(), laws.sum(axis=-1, keepdims=True)
    if not low >= 0:  # also true of nan
        raise ValueError(f"{name} holds {low}: a probability is a number from 0 to 1")
    if abs(total - 1).max() > SLACK:
        worst = total.ravel()[abs(total - 1).argmax()]
        raise ValueError(f"{name} adds up to {worst:.6g}, not to 1: divide it by its sum")
    return laws / total


def as_tokens(tokens, vocabulary=None):
    """tokens as a list of ints. Raises ValueError for an empty prompt or an id that is no token."""
    try:
        tokens = [operator.index(x) for x in tokens]
    except TypeError:
        raise ValueError(f"tokens must be a list of ints, not {tokens!r}") from None
    if not tokens:
        raise ValueError("the prompt is empty: give at least one token to start from")
    wrong = [x for x in tokens if x < 0 or (vocabulary is not None and x >= vocabulary)]
    if wrong:
        known = "" if vocabulary is None else f" in range({vocabulary})"
        raise ValueError(f"token {wrong[0]} is out of range: a token is an int{known} from 0 on")
    return tokens


def rows(model, tokens, name="model", vocabulary=None):
    """The laws (T, V) that model gives for tokens, checked: one law a token, each over V tokens."""
    tokens = as_tokens(tokens, vocabulary)
    try:
        laws = model(list(tokens))
    except (IndexError, ValueError) as error:
        shared = "" if vocabulary is None else " Both models must share one vocabulary"
        raise ValueError(f"the {name} failed on {tokens} ({error}): is a token out of its range?"
                         f"{shared}") from error
    try:
        laws = np.asarray(laws, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the {name} gave no array of numbers: it must give one law a token, "
                         "each over the same V tokens") from error
    if laws.ndim != 2 or len(laws) != len(tokens):
        raise ValueError(f"the {name} gave shape {laws.shape} for {len(tokens)} tokens: "
                         f"it must give ({len(tokens)}, V), one row a token")
    if vocabulary is not None and laws.shape[1] != vocabulary:
        raise ValueError(f"the {name} knows {laws.shape[1]} tokens, the other model {vocabulary}: "
                         "both must share one vocabulary")
    as_tokens(tokens, laws.shape[1])
    return as_laws(laws, f"a row of the {name}")


def iid(probs):
    """The model that gives the law probs (V,) after every token."""
    law = as_law(probs)
    return lambda tokens: np.tile(law, (len(as_tokens(tokens, len(law))), 1))


def markov(table):
    """The model whose next token depends on the last: row x of table (V, V) is the law after x."""
    table = np.asarray(table, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(f"table has shape {table.shape}: it needs one row and one column a token")
    table = as_laws(table, "a row of table")
    return lambda tokens: table[as_tokens(tokens, len(table))]


def rambler(vocabulary, seed, zeros=0.0, sharpness=1.0):
    """A random model whose every row depends on *all* tokens before it and on their order.

    zeros is the chance that an entry is exactly 0; the laws are Dirichlet draws of parameter
    1 / sharpness. Row t is drawn from a generator seeded with (seed, tokens[:t + 1]), so the model
    forgets nothing and remembers nothing between calls.
    """
    def row(prefix):
        rng = np.random.default_rng([seed, len(prefix), *prefix])
        law = rng.dirichlet(np.full(vocabulary, 1 / sharpness))
        cut = law * (rng.random(vocabulary) >= zeros)
        return cut / cut.sum() if cut.sum() > 0 else np.eye(vocabulary)[law.argmax()]

    def model(tokens):
        tokens = as_tokens(tokens, vocabulary)
        return np.array([remembered(tuple(tokens[:t + 1])) for t in range(len(tokens))])

    remembered = functools.lru_cache(maxsize=100_000)(row)
    return model


def temperature(model, T):
    """model with every law raised to the power 1 / T and rescaled; T = 0 keeps the top token."""
    if not 0 <= T < np.inf:
        raise ValueError(f"temperature {T}: it must be a number from 0 on")

    def tempered(tokens):
        laws = rows(model, tokens)
        if T == 0:
            return np.eye(laws.shape[1])[laws.argmax(axis=1)]
        with np.errstate(divide="ignore", over="ignore"):  # a forbidden token stays at -inf
            logits = np.log(laws / laws.max(axis=1, keepdims=True)) / T
        laws = np.exp(logits)
        return laws / laws.sum(axis=1, keepdims=True)
    return tempered


def top_k(model, k):
    """model with every law cut to its k likeliest tokens; of equals those with the lower ids."""
    if not k >= 1:
        raise ValueError(f"k is {k}: keep at least one token")

    def cut(tokens):
        return _kept(rows(model, tokens), lambda ordered: np.arange(ordered.shape[1]) < k)
    return cut


def top_p(model, share):
    """model with every law cut to its likeliest tokens, as few as hold share of it together."""
    if not 0 < share <= 1:
        raise ValueError(f"the share is {share}: it must be above 0, and 1 at the most")

    def cut(tokens):
        laws = rows(model, tokens)
        return laws if share == 1 else _kept(  # what the likelier tokens hold, up to rounding
            laws, lambda ordered: ordered.cumsum(axis=1) - ordered < share - 1e-12)
    return cut


def _kept(laws, chosen):
    """laws (T, V) cut to chosen(ordered), where ordered has every law from its likeliest on."""
    order = np.argsort(-laws, axis=1, kind="stable")
    ordered = np.take_along_axis(laws, order, axis=1)
    cut = np.zeros_like(laws)
    np.put_along_axis(cut, order, ordered * chosen(ordered), axis=1)
    return cut / cut.sum(axis=1, keepdims=True)


def allowed(model, may_follow):
    """model with only those tokens that may_follow(tokens) -> (V,) of bool allows after a text.

    It must allow one after every text: also behind a guess that breaks a format a row must exist,
    though nobody reads it. Where the model gives all allowed tokens 0, each has the same chance.
    """
    def masked(tokens):
        laws = rows(model, tokens)
        mask = np.array([may_follow(list(tokens[:t + 1])) for t in range(len(laws))], dtype=bool)
        if mask.shape != laws.shape:
            raise ValueError(f"may_follow gave {mask.shape[1:]} for one text: it must give one "
                             f"True or False a token, ({laws.shape[1]},)")
        if not mask.any(axis=1).all():
            raise ValueError(f"may_follow allows nothing somewhere in {list(tokens)}: allow a "
                             "token after every text, also where the format is broken")
        weights = np.where((laws * mask).sum(axis=1, keepdims=True) > 0, laws * mask, mask)
        return weights / weights.sum(axis=1, keepdims=True)
    return masked


def mixture(model, other, weight):
    """The model whose laws are (1 - weight) of model's plus weight of other's."""
    def mixed(tokens):
        laws = rows(model, tokens)
        return (1 - weight) * laws + weight * rows(other, tokens, "second model", laws.shape[1])
    return mixed


def remembered(model):
    """model, which keeps every answer and gives a copy of it when it is asked again."""
    answers = functools.lru_cache(maxsize=100_000)(lambda tokens: np.array(model(list(tokens))))
    return lambda tokens: answers(tuple(tokens)).copy()


def counted(model):
    """model, with an attribute passes: the number of tokens of every call so far."""
    def counting(tokens):
        counting.passes.append(len(tokens))
        return model(tokens)
    counting.passes = []
    return counting
