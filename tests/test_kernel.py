"""The product of few positions and many weights is NumPy's own, whoever computes it."""
import numpy as np
import pytest

from course import kernel

needs_kernel = pytest.mark.skipif(kernel.missing(), reason="llvmlite is not installed")


def matrices(n, d_in, d_out, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d_in)).astype(np.float32),
            rng.normal(size=(d_out, d_in)).astype(np.float32))


@needs_kernel
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 24, 32])
@pytest.mark.parametrize("d_out", [1, 5, 997, 1000])
def test_the_kernel_is_the_product(monkeypatch, n, d_out):
    monkeypatch.setattr(kernel, "LARGE", 0)
    x, w = matrices(n, 528, d_out)
    called = []
    own = kernel._kernel
    monkeypatch.setattr(kernel, "_kernel", lambda n: called.append(n) or own(n))
    assert np.allclose(kernel.project(x, w), x @ w.T, atol=2e-4)
    assert called == [n]


@needs_kernel
def test_every_number_of_every_row_counts(monkeypatch):
    """One weight moved by one moves one output by that position's input."""
    monkeypatch.setattr(kernel, "LARGE", 0)
    x, w = matrices(5, 64, 7)
    before = kernel.project(x, w)
    for row, column in [(0, 0), (3, 31), (6, 63), (5, 15), (5, 16)]:
        moved = w.copy()
        moved[row, column] += 1
        change = kernel.project(x, moved) - before
        assert np.allclose(change[:, row], x[:, column], atol=1e-4)
        assert abs(np.delete(change, row, axis=1)).max() == 0


@needs_kernel
@pytest.mark.parametrize("lanes, registers", [(4, 32), (8, 16), (16, 32)])
@pytest.mark.parametrize("n", [1, 5, 8, 12, 32])
def test_other_processors_get_a_kernel_too(lanes, registers, n):
    """LLVM splits vectors that are wider than this machine's, so each variant can be run here."""
    run, engine = kernel.compiled(kernel.source(n, lanes, registers))
    x, w = matrices(n, 96, 37)
    y = np.full((n, 37), np.nan, np.float32)
    run(x.ctypes.data, w.ctypes.data, y.ctypes.data, 96, 37)
    assert np.allclose(y, x @ w.T, atol=1e-4)


@pytest.mark.parametrize("n, d_in, d_out", [(4, 100, 60), (40, 512, 1100), (1, 16, 3)])
def test_where_it_cannot_help_numpy_multiplies(monkeypatch, n, d_in, d_out):
    monkeypatch.setattr(kernel, "_kernel", None)  # a call would fail
    x, w = matrices(n, d_in, d_out)
    assert np.array_equal(kernel.project(x, w), x @ w.T)


def test_without_llvmlite_numpy_multiplies(monkeypatch):
    monkeypatch.setattr(kernel, "_kernel", None)
    monkeypatch.setattr(kernel, "missing", lambda: True)
    x, w = matrices(3, 1024, 600)
    assert np.array_equal(kernel.project(x, w), x @ w.T)


@pytest.mark.parametrize("d_in, pieces", [(1536, 1), (1552, 1), (3072, 2), (6144, 4)])
def test_long_rows_are_cut_and_add_up(d_in, pieces):
    x, w = matrices(5, d_in, 400)
    cut = kernel.cut(w)
    assert (cut.shape[0] if cut.ndim == 3 else 1) == pieces
    assert cut.flags.c_contiguous and cut.nbytes == w.nbytes
    assert np.allclose(kernel.project(x, cut), x @ w.T, atol=1e-3)


def test_small_weights_are_not_cut():
    _, w = matrices(1, 6144, 4)
    assert kernel.cut(w) is w


@needs_kernel
def test_an_x_that_is_a_slice_is_taken():
    x, w = matrices(5, 2048, 600)
    assert np.allclose(kernel.project(x[:, ::2], w[:, :1024].copy()), x[:, ::2] @ w[:, :1024].T,
                       atol=1e-3)


@needs_kernel
@pytest.mark.parametrize("spoil", [lambda x, w: (x.astype(float), w), lambda x, w: (x, w[:, ::-1]),
                                   lambda x, w: (x, w.astype(float)),
                                   lambda x, w: (x, np.hstack([w, w]))])
def test_what_the_kernel_cannot_read_is_refused(spoil):
    """It is told addresses alone, so a wrong shape would read what is not ours."""
    x, w = spoil(*matrices(2, 1024, 600))
    with pytest.raises(ValueError, match="ascontiguousarray"):
        kernel.project(x, w)
