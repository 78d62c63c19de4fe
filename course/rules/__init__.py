"""The rules of course.mistakes, wrong ones and right ones, as functions and as entries.

rounds       a right round in parts that can be exchanged, and proposals to exchange
judges       other ways through the guesses, and rounds that exchange more than a part
loops        other loops around the rounds, and rules for a law that the reader wants
entry        what an entry is
replacing    entries: what is drawn after a rejection, and the test
reading      entries: proposal, target, position, bonus
running      entries: rollback, randomness, stopping, numbers
right        entries: right rules, most of them slower than need be
"""
