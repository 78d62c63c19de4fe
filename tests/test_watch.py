"""The watch over other sources of randomness, beside what tests/test_exact.py asks of it."""
import gc

from course import watch


def test_nothing_grows_old_between_two_looks(monkeypatch):
    """In a kernel other threads make garbage: a collection between the look at one generation of
    objects and the next hid a generator from both, and exact.law refused a sampler without reason.
    """
    collecting = []
    monkeypatch.setattr(watch, "_last", {})
    monkeypatch.setattr(watch, "_generators", lambda all: collecting.append(gc.isenabled()) or [])
    watch._alive()
    assert len(collecting) >= 2 and not any(collecting) and gc.isenabled()


def test_the_collector_is_left_as_it_was():
    gc.disable()
    try:
        watch._alive()
        assert not gc.isenabled()
    finally:
        gc.enable()
