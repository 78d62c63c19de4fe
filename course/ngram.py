"""A model that has counted: the law of the next token after the last few, by Witten and Bell.

Follows Witten and Bell 1991 (method C): after a context that was followed by t kinds of token in n
places, the counts get n / (n + t) of the law, and the law after a context one token shorter the
rest. Left out: pruning, other ways to smooth. A table of this kind is the cheapest draft there is.
"""
from collections import Counter, defaultdict

import numpy as np

from course.models import as_tokens


def witten_bell(texts, order, vocabulary):
    """The model whose next token depends on the last order - 1, counted in texts, lists of tokens.

    Returns model(tokens) -> (T, V), as in course.models. What stands before a text is no context.
    """
    follow = defaultdict(Counter)  # context, a tuple -> how often each token came after it
    for text in texts:
        for i, x in enumerate(text):
            for length in range(min(order - 1, i) + 1):
                follow[tuple(text[i - length:i])][x] += 1

    def row(context):
        law = np.full(vocabulary, 1 / vocabulary)
        for length in range(len(context) + 1):  # from no context to the longest
            seen = follow.get(tuple(context[len(context) - length:]))
            if seen is None:
                break
            n, kinds = seen.total(), len(seen)
            law = law * (kinds / (n + kinds))
            law[list(seen)] += np.array(list(seen.values())) / (n + kinds)
        return law

    def model(tokens):
        tokens = as_tokens(tokens, vocabulary)
        return np.array([row(tokens[max(0, t + 2 - order):t + 1]) for t in range(len(tokens))])
    return model
