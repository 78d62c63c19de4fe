"""Explorers: the mask of lesson 03, p and q of 05, the stepper of 06, the gain of 08.

Their logic is JavaScript, one file each (mask.js, pq.js, stepper.js, gain.js), so that one source
lives as an anywidget in JupyterLab and, mounted by mount.js, on a page without a kernel. What a
notebook stores is a static table with the state as JSON, no widget state. Left out: anything that
plays by itself.
"""
import numpy as np
import traitlets

from course.attention import causal_mask, moved, weights
from course.gain import best_gamma, expected_tokens, speed_up
from course.models import as_law, as_tokens, markov
from course.speculative import DUST, residual
from course.trace import cells, trace
from course.widgets.explorer import BOTH, HERE, Explorer

WORDS = ("first", "second", "third", "fourth", "fifth")


class Mask(Explorer):
    """Change a word and see which rows of the attention move, with the mask or without it.

    names: 3 to 8 words; vectors: (V, width), a row a word; tokens: the text, 3 to 8 places.
    """

    _esm, _file = HERE / "mask.js", "mask"
    _caption = ("Who looks at whom, × where the mask hides, and by how much each row has moved "
                "(run the cell to change a word)")
    names, vectors = traitlets.List().tag(**BOTH), traitlets.List().tag(**BOTH)
    start, tokens = traitlets.List().tag(**BOTH), traitlets.List().tag(**BOTH)
    causal = traitlets.Bool().tag(**BOTH)

    def __init__(self, names, vectors, tokens, causal=True):
        names = _names(names, len(vectors), [""] * 8, least=3)
        widths = {np.size(row) if np.ndim(row) == 1 else 0 for row in vectors}
        if len(widths) > 1 or min(widths) < 2 or not np.isfinite(np.array(vectors, float)).all():
            raise ValueError(f"vectors have rows of {sorted(widths)} numbers: give each word two "
                             "finite numbers or more, and all words as many")
        vectors, start = np.array(vectors, float).tolist(), as_tokens(tokens, len(names))
        super().__init__(names=names, vectors=vectors, start=start, tokens=start,
                         causal=bool(causal))

    @traitlets.validate("tokens")
    def _text(self, proposal):
        tokens = as_tokens(proposal["value"], len(self.names))
        if not 3 <= len(tokens) <= 8 or len(tokens) != len(self.start):
            raise ValueError(f"{len(tokens)} places: this explorer shows 3 to 8, as many as at "
                             "the start")
        return tokens

    def _x(self, tokens):
        return np.array(self.vectors)[tokens]  # (n, width): a row a place

    def _mask(self):
        return causal_mask(len(self.tokens)) | (not self.causal)

    def moves(self):
        """By how much each row of the output has moved since the start (n,)."""
        return moved(self._x(self.start), self._x(self.tokens), self._mask())

    def _cells(self):
        x, mask, moves = self._x(self.tokens), self._mask(), self.moves()
        old, new = ([self.names[token] for token in text] for text in (self.start, self.tokens))
        return [["row", *map(str, range(len(x))), "moved by"]] + [
            [f"{i} {new[i]}" + (f" (was {old[i]})" if new[i] != old[i] else "")]
            + [f"{w:.2f}" if seen else "×" for w, seen in zip(row, mask[i], strict=True)]
            + [f"{moves[i]:.2f}" if moves[i] else "0"]
            for i, row in enumerate(weights(x, x, mask))]


class PQ(Explorer):
    """Move p and q, choose a rule, and see which law comes out. p, q: laws (V,), V from 2 to 5."""

    _esm, _file = HERE / "pq.js", "pq"
    _caption = "p and q, and what comes out (run the cell to move them)"
    names, start = traitlets.List().tag(**BOTH), traitlets.List().tag(**BOTH)
    p, q = traitlets.List().tag(**BOTH), traitlets.List().tag(**BOTH)

    def __init__(self, p, q, names=None):
        p, q = as_law(p, "p").tolist(), as_law(q, "q").tolist()
        super().__init__(p=p, q=q, start=[p, q], names=_names(names, len(p), WORDS))

    @traitlets.validate("p", "q")
    def _law(self, proposal):
        law, name = as_law(proposal["value"], proposal["trait"].name), proposal["trait"].name
        if len(law) != len(self.names or law):
            raise ValueError(f"{name} has {len(law)} entries for {len(self.names)} tokens: "
                             "p and q share one vocabulary")
        return list(proposal["value"])  # as it came: a changed value would be sent back to the page

    def _cells(self):
        p, q = np.array(self.p), np.array(self.q)
        kept, owed = np.minimum(p, q), np.maximum(p - q, 0)
        again = residual(p, q) if owed.max() > DUST else np.full(len(p), np.nan)
        out = kept + (1 - kept.sum()) * np.nan_to_num(again)
        rows = {"p": p, "q": q, "kept": kept, "owed": owed, "thrown away": q - kept,
                "redraw": again, "comes out": out}
        return [["law", *self.names, "sum"]] + [
            [word] + ["-" if np.isnan(v) else f"{v:.2f}" for v in [*law, law.sum()]]
            for word, law in rows.items()]


class Stepper(Explorer):
    """One generation, move by move, on a list of coins, in the order that course.trace says.

    The models are tables (V, V), as for models.markov: row x is the law after token x.
    """

    _esm, _file = HERE / "stepper.js", "stepper"
    _caption = "One generation, round by round (run the cell to step through it)"
    names, prompt = traitlets.List().tag(**BOTH), traitlets.List().tag(**BOTH)
    target, draft = traitlets.List().tag(**BOTH), traitlets.List().tag(**BOTH)
    gamma, n_new = traitlets.Int().tag(**BOTH), traitlets.Int().tag(**BOTH)
    coins = traitlets.List().tag(**BOTH)

    def __init__(self, target, draft, prompt, gamma, n_new, coins, names=None):
        target, draft = (markov(t)(range(len(t))).tolist() for t in (target, draft))
        if len(target) != len(draft):
            raise ValueError(f"target has {len(target)} tokens, draft has {len(draft)}: "
                             "both must share one vocabulary")
        if n_new < 1:
            raise ValueError(f"n_new is {n_new}: the stepper needs one token to write")
        names = _names(names, len(target), "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        super().__init__(target=target, draft=draft, prompt=as_tokens(prompt, len(target)),
                         gamma=gamma, n_new=n_new, coins=[float(u) for u in coins], names=names)
        self.rows()  # raises here, not in the browser, if the coins do not suffice

    def rows(self):
        """The rows of course.trace.trace for this state."""
        return trace(markov(self.target), markov(self.draft), self.prompt, self.gamma, self.n_new,
                     self.coins)

    def _cells(self):
        return cells(self.rows(), self.names)


MOST = 16  # guesses a round that the gain explorer goes to
STORED = [1, 2.05, 3.09, 2.95, 3.34, 3.38, 3.47, 4.40, 6.57]  # lesson 02, torch, stored machine, at
WAYS = {  # 1, 2, 3, 4, 5, 6, 8, 16, 32 positions; v(n) between them on straight lines
    "flat: every pass costs the same": lambda n: 1.0,
    "reads the weights once: 1 + 0.03 (n - 1)": lambda n: 1 + 0.03 * (n - 1),
    "plain product of lesson 02": lambda n: float(np.interp(n, [*range(1, 7), 8, 16, 32], STORED))}


class Gain(Explorer):
    """Move alpha, c and gamma, choose v, and see how many times as fast a text is written.

    ways: {name: v}, each v a function of n or a list with v[n], up to gamma = 16 where it can be.
    """

    _esm, _file = HERE / "gain.js", "gain"
    _caption = "Times as fast, by the number of guesses (run the cell to move the numbers)"
    alpha, c = traitlets.Float().tag(**BOTH), traitlets.Float().tag(**BOTH)
    gamma, way = traitlets.Int().tag(**BOTH), traitlets.Unicode().tag(**BOTH)
    ways = traitlets.Dict().tag(**BOTH)

    def __init__(self, alpha, c, gamma, ways=None):
        ways = {name: [0.0, *map(v, range(1, MOST + 2))] if callable(v) else list(map(float, v))
                for name, v in (WAYS if ways is None else ways).items()}
        ends = sorted({len(v) for v in ways.values()})
        if len(ends) != 1:
            raise ValueError(f"ways have {ends} entries: give at least one v, and all of them up "
                             "to the same number of positions")
        for v in ways.values():
            speed_up(alpha, gamma, c, v)  # raises here, not in the browser
        super().__init__(alpha=float(alpha), c=float(c), gamma=int(gamma), ways=ways,
                         way=next(iter(ways)))

    def _cells(self):
        v = self.ways[self.way]
        best = best_gamma(self.alpha, self.c, v)
        return [["γ", "words a round", "passes a round", "times as fast", "note"]] + [
            [str(g), f"{expected_tokens(self.alpha, g):.2f}", f"{g * self.c + v[g + 1]:.2f}",
             f"{speed_up(self.alpha, g, self.c, v):.2f}", "best" if g == best else ""]
            for g in range(len(v) - 1)]


def _names(names, size, usual, least=2):
    """The words for size tokens: names, or the usual ones. Raises ValueError that says how many."""
    names = [str(word) for word in (usual[:size] if names is None else names)]
    if not least <= size <= len(usual):
        raise ValueError(f"{size} tokens: this explorer shows {least} to {len(usual)}")
    if len(names) != size:
        raise ValueError(f"{len(names)} names for {size} tokens: give one word a token")
    return names
