"""Running a learner's code so that the notebook stays usable: a time limit, and no flood of text.

A daemon thread does the work, and the limit throws an exception into it. That needs no signals,
costs nothing, and works the same on Linux, macOS and Windows. Out of reach: one endless call inside
a C library that never gives Python back, which only another process could end. Without threads (a
page that runs Python in the browser) there is no limit.
"""
import contextlib
import ctypes
import io
import math
import os
import sys
import threading
import time
import warnings

import numpy as np

STEP = 0.02  # seconds between two looks; short, since Windows sees the Stop button only then
TRIES = 20  # a bare `except:` may swallow the exception more than once


class TimeUp(BaseException):
    """Thrown into the learner's code: no Exception, so `except Exception` lets it through."""


def within(seconds, fn, *args):
    """fn(*args), whose own errors are raised here. TimeoutError after `seconds`, come what may."""
    if sys.platform == "emscripten":
        return fn(*args)
    box, done = {}, threading.Event()  # an Event: 3.11's join() forgets a thread when interrupted

    def work():
        try:
            box["value"] = fn(*args)
        except BaseException as error:
            box["error"] = error
        finally:
            done.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    late = True
    try:
        late = not _waited(done, seconds)
    finally:  # also when the reader presses Stop
        if not done.is_set():
            _throw_into(thread, done)
    if not done.is_set():
        raise TimeoutError("it cannot be stopped: restart the kernel")
    if late:
        raise TimeoutError("it was stopped")
    if "error" in box:
        raise box["error"]
    return box["value"]


def _waited(done, seconds):
    """Did done happen in this time?"""
    end = time.monotonic() + seconds
    while not done.wait(STEP):
        if time.monotonic() >= end:
            return False
    return True


def _throw_into(thread, done):
    """Raise TimeUp in the thread, again and again, until it ends or TRIES are used up."""
    for _ in range(TRIES):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident),
                                                   ctypes.py_object(TimeUp))
        if done.wait(2 * STEP):
            return


class Budget:
    """Seconds to spend: of this process's own work, or a third of those on the wall, if more.

    On a busy machine a check then takes longer, and says the same.
    """

    def __init__(self, seconds):
        self.seconds, self.start = seconds, self._clocks()

    @staticmethod
    def _clocks():
        return time.process_time(), time.monotonic()

    def left(self):
        work, wall = (now - then for now, then in zip(self._clocks(), self.start))
        return self.seconds - max(work, wall / 3)


class Ear(io.TextIOBase):
    """A place for what learner code prints: counts the lines, keeps nothing."""

    lines = 0

    def writable(self):
        return True

    def write(self, text):
        self.lines += str(text).count("\n")
        return len(text)


@contextlib.contextmanager
def quiet():
    """Yields an Ear that hears what is printed inside; nothing reaches the screen."""
    ear = Ear()
    with contextlib.redirect_stdout(ear), contextlib.redirect_stderr(Ear()):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield ear


class Progress:
    """A bar on the screen from the second second on, wiped off at the end.

    None where outputs are stored or compared (COURSE_STORED=1): there a slow moment would show.
    """

    def __init__(self, after=1.0):
        stored = os.environ.get("COURSE_STORED")
        self.out, self.dots = sys.stdout, 0
        self.start = math.inf if stored else time.monotonic() + after

    def step(self, done, of):
        if time.monotonic() > self.start:
            self.dots = 30 * done // max(of, 1)
            self._say(f"\rchecking [{'#' * self.dots:30}]")

    def close(self):
        if self.dots:
            self._say("\r" + " " * 42 + "\r")

    def _say(self, text):
        with contextlib.suppress(Exception):
            self.out.write(text)
            self.out.flush()
