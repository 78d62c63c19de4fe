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
TRIES, PAUSE = 500, 0.002  # a bare `except:` may swallow the exception more than once
MEMORY = 2**30  # bytes that the learner's code may add
ADDRESSES = 4 * MEMORY  # that it may reserve, where the system can refuse it more


class TimeUp(BaseException):
    """Thrown into the learner's code: no Exception, so `except Exception` lets it through."""


class Interrupt(Exception):
    """KeyboardInterrupt raised by the learner's code, not by the Stop button."""


def within(seconds, fn, *args, since=lambda: 0.0):
    """fn(*args), whose own errors are raised here. TimeoutError after `seconds`, come what may.

    since() tells when the seconds began to run, on time.monotonic's clock, if later than now.
    """
    if sys.platform == "emscripten":
        return fn(*args)
    box, done = {}, threading.Event()  # an Event: 3.11's join() forgets a thread when interrupted
    thread = threading.Thread(target=_work, args=(box, done, fn, args), daemon=True)
    thread.start()
    why = "it was stopped"
    try:
        with _roof():
            why = _waited(done, seconds, since)
    finally:  # also when the reader presses Stop
        if not done.is_set():
            _throw_into(thread, done)
    if why:
        box.clear()  # the error in it holds all that the learner's code held
        raise TimeoutError(why if done.is_set() else "it cannot be stopped: restart the kernel")
    if "error" in box:
        raise box.pop("error")
    return box["value"]


def _work(box, done, fn, args):
    """Put the value of fn(*args), or its error, into box."""
    try:
        try:
            box["value"] = fn(*args)
        except KeyboardInterrupt:
            box["error"] = Interrupt()
        except BaseException as error:
            box["error"] = error
        finally:
            done.set()
    except TimeUp:  # it came between two lines of this function
        done.set()


def _waited(done, seconds, since):
    """Wait until done, and return "" if it happened in time, else why not."""
    start, most = time.monotonic(), _memory("rss") + MEMORY
    while not done.wait(STEP):
        if time.monotonic() >= max(start, since()) + seconds:
            return "it was stopped"
        if _memory("rss") > most:
            return "it was stopped when it had taken 1 GB of memory"
    return ""


def _memory(kind):
    """Bytes that this process holds ("rss") or has addresses for ("vms"); 0 where nothing tells."""
    with contextlib.suppress(Exception):
        import psutil  # comes with ipykernel
        return getattr(psutil.Process().memory_info(), kind)
    return 0


@contextlib.contextmanager
def _roof():
    """Inside, one call that wants many gigabytes fails at once, where the system can do that."""
    try:
        import resource
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = _memory("vms") + ADDRESSES
        resource.setrlimit(resource.RLIMIT_AS, (most if soft < 0 else min(soft, most), hard))
    except (ImportError, AttributeError, ValueError, OSError):  # Windows; macOS does not keep it
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _throw_into(thread, done):
    """Raise TimeUp in the thread, again and again, until it ends or TRIES are used up.

    The pauses are short: code that catches everything is hit, sooner or later, outside its `try`.
    """
    for _ in range(TRIES):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident),
                                                   ctypes.py_object(TimeUp))
        if done.wait(PAUSE):
            return


class Budget:
    """Seconds to spend, of this process's own work, or a third of those on the wall, if more.

    The last resort, far away: checks count paths and runs, which say the same on any machine.
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
