"""course.machine: the kernel computes x @ w.T and reads each weight once; measuring works anywhere.

Nothing here says how fast a machine is: only that the numbers are there and mean what they say.
"""
import collections
import os
import runpy
import subprocess
import sys
import time

import numpy as np
import pytest

from course import machine

SHAPES = [(1, 1), (5, 3), (7, 33), (64, 100), (13, 257)]  # (d_out, d_in), mostly odd ones


def plain(n, most=6):
    """The kernel's text run by Python itself: what the lesson shows is what is tested."""
    names = {"zero": np.float32(0)}
    exec(machine.skinny_source(n, most), names)
    return names[f"skinny_{n}"]


def draw(n, d_out, d_in, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((n, d_in), dtype=np.float32),
            rng.standard_normal((d_out, d_in), dtype=np.float32))


def assert_product(y, x, w):
    """y is x @ w.T up to the rounding that any order of the sum may have: (d_in + 1) half-ulps."""
    exact = x.astype(float) @ w.astype(float).T
    room = (x.shape[1] + 1) * 2.0**-24 * (abs(x).astype(float) @ abs(w).astype(float).T)
    assert y.shape == exact.shape and y.dtype == np.float32
    assert (abs(y - exact) <= room).all(), abs(y - exact).max()


@pytest.mark.parametrize("most", [6, 2])
@pytest.mark.parametrize("n", range(1, 33))
def test_the_text_is_the_product(n, most):
    for d_out, d_in in [(1, 1), (5, 3), (13, 7)]:
        x, w = draw(n, d_out, d_in)
        y = np.full((n, d_out), np.nan, dtype=np.float32)
        plain(n, most)(x, w, y)
        assert_product(y, x, w)


@pytest.mark.parametrize("n", [1, 3, 5, 6, 9, 13])  # fewer: each takes half a second to compile
def test_the_compiled_kernel_is_the_product(n):
    pytest.importorskip("numba")
    for d_out, d_in in SHAPES:
        x, w = draw(n, d_out, d_in)
        assert_product(machine.skinny(n)(x, w), x, w)


class Counted:
    """Weights that note each time one of them is read."""

    def __init__(self, w):
        self.w, self.shape, self.reads = w, w.shape, collections.Counter()

    def __getitem__(self, r):
        class Row:
            def __getitem__(_, k):
                self.reads[r, k] += 1
                return self.w[r, k]
        return Row()


@pytest.mark.parametrize("n, most, times", [
    (1, 6, 1), (2, 6, 1), (5, 6, 1), (6, 6, 1), (8, 6, 2), (32, 6, 8), (2, 2, 1), (5, 2, 3)
])
def test_each_weight_is_read_once_for_all_positions(n, most, times):
    """60 rows share out evenly over 5 or 6 streams. Each further group of positions reads a row
    once more, right after the group before: from the cache."""
    x, w = draw(n, 60, 4)
    counted = Counted(w)
    plain(n, most)(x, counted, np.empty((n, 60), dtype=np.float32))
    assert len(counted.reads) == w.size and set(counted.reads.values()) == {times}


@pytest.mark.parametrize("d_out", [1, 4, 7, 59])
def test_uneven_rows_are_read_twice_at_most_five_of_them(d_out):
    counted = Counted(draw(2, d_out, 1)[1])
    plain(2)(draw(2, d_out, 1)[0], counted, np.empty((2, d_out), dtype=np.float32))
    assert len(counted.reads) == d_out and sum(counted.reads.values()) - d_out <= 5


@pytest.mark.parametrize("n", [1, 5, 9])
def test_a_weight_moves_its_own_output_and_a_position_its_own_row(n):
    pytest.importorskip("numba")
    x, w = draw(n, 7, 37)
    y = machine.skinny(n)(x, w)
    for r, k in np.ndindex(w.shape):
        other = w.copy()
        other[r, k] += 8
        assert [*(machine.skinny(n)(x, other) != y).any(axis=0)] == [row == r for row in range(7)]
    for i in range(n):
        other = x.copy()
        other[i] += 1
        assert [*(machine.skinny(n)(other, w) != y).any(axis=1)] == [row == i for row in range(n)]


@pytest.mark.parametrize("n", [0, -1, 33, 2.5, "5"])
def test_a_count_of_positions_that_cannot_be(n):
    with pytest.raises(ValueError, match="1 to 32 positions"):
        machine.skinny_source(n)


@pytest.mark.parametrize("spoil, mend", [
    (lambda x, w: (x[:2], w), r"an x of shape \(3, 5\)"),
    (lambda x, w: (x, w[:, :4].copy()), r"an x of shape \(3, 4\)"),
    (lambda x, w: (x.astype(float), w), "dtype=np.float32"),
    (lambda x, w: (x, w.T.copy().T), "ascontiguousarray"),
    (lambda x, w: (x[0], w), "matrices"),
    (lambda x, w: (x.tolist(), w), "matrices")])
def test_what_does_not_fit_is_refused_with_the_mend(spoil, mend):
    pytest.importorskip("numba")
    with pytest.raises(ValueError, match=mend):
        machine.skinny(3)(*spoil(*draw(3, 4, 5)))


@pytest.mark.parametrize("way", ["skinny", "torch"])
def test_pass_cost_has_its_fields(way):
    pytest.importorskip("numba")
    torch = pytest.importorskip("torch") if way == "torch" else None
    threads = torch and torch.get_num_threads()
    cost = machine.pass_cost([way], 0.2, (1, 3), repeats=4)
    assert set(cost) == {"bytes", "read", "positions", "seconds", "v", "runs"}
    assert cost["bytes"] == 12 * machine.WIDTH * 4 and cost["positions"] == (1, 3)
    assert cost["read"] > 0 and cost["runs"]["read"].shape == (4,)
    assert cost["runs"][way].shape == (2, 4) and (cost["runs"][way] > 0).all()
    assert np.allclose(cost["seconds"][way], np.median(cost["runs"][way], axis=1))
    assert np.allclose(cost["v"][way], cost["seconds"][way] / cost["seconds"][way][0])
    assert threads == (torch and torch.get_num_threads())


@pytest.mark.parametrize("ways, megabytes, positions, repeats", [
    (["numpy"], 1, (1, 2), 3), (["skinny"], 1, (2, 3), 3), (["skinny"], 1, (), 3),
    (["skinny"], 0, (1,), 3), (["skinny"], float("nan"), (1,), 3), (["skinny"], 1, (1,), 0)])
def test_pass_cost_refuses_what_cannot_be_measured(ways, megabytes, positions, repeats):
    with pytest.raises(ValueError, match="take"):
        machine.pass_cost(ways, megabytes, positions, repeats)


def test_bandwidth_and_peak_are_rates():
    pytest.importorskip("numba")
    assert 0 < machine.read_bandwidth(0.2, repeats=2) < np.inf
    assert 0 < machine.peak_flops(repeats=1) < np.inf


def test_torch_keeps_its_threads_when_a_measurement_fails():
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        machine._take_turns({"bad": lambda: 1 / 0}, 2**25, 1)
    assert torch.get_num_threads() == threads


def test_naming_the_machine_never_raises(monkeypatch):
    for _ in range(2):  # the machine as it is, then one that tells nothing
        sizes = machine.caches()
        assert list(sizes) == ["L1", "L2", "L3"]
        assert all(size is None or size > 0 for size in sizes.values())
        assert str(os.cpu_count()) in machine.describe() and "\n" not in machine.describe()
        monkeypatch.setattr(machine, "_ask", lambda source: "")
        monkeypatch.delattr(os, "sysconf", raising=False)
    assert set(machine.caches().values()) == {None}


def test_ask_survives_a_missing_file_and_a_missing_command(monkeypatch):
    assert machine._ask("/no/such/file") == ""
    monkeypatch.setenv("PATH", "")
    assert machine._ask("hw.l2cachesize") == ""


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: None)
    assert machine.missing() == ["numba", "torch"]
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(ImportError, match="needs numba: make lab installs it"):
        machine.skinny(31)


def test_importing_the_module_needs_no_extra():
    code = "import sys, course.machine; sys.exit(bool({'numba', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("system", ["win32", "emscripten"])
def test_a_system_without_a_useful_clock_of_the_thread(monkeypatch, system):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.delattr(time, "thread_time", raising=False)
    assert runpy.run_path(machine.__file__)["CLOCK"] is time.perf_counter
