"""How course.check marks a function: run it, write down what it did, and say which idea is in it.

worlds     the pairs of models on which a function is run
examine    its law and its traces in a world; limits keeps the notebook usable meanwhile
anatomy    rounds, guesses and places, told from the traces
diagnose   which rule of course.mistakes has this law, else what was done: deeds, first, shapes
mishaps    what no law shows: crashes, hangs, changed arguments, other sources of chance
manner     in which way a right function is slower
texts      puts it together for generate and speculate; parts does it for accept and residual
values     marks a number by the formulas that give it
"""
