"""Attention: numbers worked out by hand, torch's own function, and what the mask promises."""
import numpy as np
import pytest

from course.attention import attention, causal_mask, moved, weights

X = np.array([[1., 0.], [0., 1.], [1., 1.], [0., 2.]])  # tonight, the, sky, is of lesson 03
MOON = np.array([[1., 0.], [0., 1.], [2., 2.], [0., 2.]])
ALL = np.ones((4, 4), dtype=bool)


def test_by_hand():
    """Row 1 of X has scores 0 and 1/√2 for what it sees, so weights 1 : e^0.7071, a sum of 1."""
    e = np.exp(0.5 ** 0.5)
    share = e / (1 + e)
    got = attention(X, X, X, causal_mask(4))
    assert np.allclose(got[:2], [[1, 0], [1 - share, share]], rtol=0, atol=1e-15)
    row = np.array([e, e, e * e, 0]) / (2 * e + e * e)  # sky: scores 1/√2, 1/√2, √2; is is hidden
    assert np.allclose(weights(X, X, causal_mask(4))[2], row, rtol=0, atol=1e-15)
    assert np.allclose(got[2], row @ X, rtol=0, atol=1e-15)
    open_row = np.array([e, 1, e, 1]) / (2 * e + 2)  # tonight, without the mask
    assert np.allclose(attention(X, X, X, ALL)[0], open_row @ X, rtol=0, atol=1e-15)


def test_is_what_torch_computes():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    for n, m, width in [(3, 3, 2), (5, 5, 4), (1, 6, 3), (8, 8, 2)]:
        query, key, value = (rng.normal(size=(k, width)) * 3 for k in (n, m, m))
        for mask in (rng.random((n, m)) < 0.5, np.ones((n, m), dtype=bool), np.tri(n, m) == 1):
            mask[:, 0] = True  # a row must see something
            wanted = torch.nn.functional.scaled_dot_product_attention(
                *(torch.tensor(part[None]) for part in (query, key, value)), torch.tensor(mask))
            got = attention(query, key, value, mask)
            assert np.allclose(got, wanted[0].numpy(), rtol=0, atol=1e-12)


def test_a_hidden_place_moves_nothing_at_all():
    assert np.array_equal(weights(X, X, causal_mask(4)) == 0, ~causal_mask(4))
    assert np.array_equal(moved(X, MOON, causal_mask(4)) > 0, [False, False, True, True])
    assert moved(X, MOON, ALL).min() > 0.1


def test_large_scores_do_not_overflow():
    with np.errstate(all="raise", under="ignore"):
        got = attention(1e3 * X, 1e3 * X, X, ALL)
    assert np.allclose(got[2], [0.5, 1.5])  # sky and is fit sky equally well, far above the rest


@pytest.mark.parametrize("make, mend", [
    (lambda: attention(X, X[:, :1], X, ALL), "rows of one width"),
    (lambda: attention(X[0], X, X, ALL), "one row a position"),
    (lambda: attention(X, X, X[:3], ALL), "one row a key"),
    (lambda: attention(X, X, X, ALL.astype(int)), "True or False"),
    (lambda: attention(X, X, X, ALL[:2]), "4 rows and 4 columns"),
    (lambda: attention(X, X, X, np.triu(ALL, 1)), "row 3 may look at nothing")])
def test_bad_input_names_the_mend(make, mend):
    with pytest.raises(ValueError, match=mend):
        make()
