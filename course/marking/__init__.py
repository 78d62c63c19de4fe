"""How course.check marks a function: run it, write down what it did, and say which idea is in it.

worlds     the pairs of models on which a function is run
calls      how a function of each contract is called; answers: what it may return
examine    its law and its traces in a world; limits keeps the notebook usable meanwhile
anatomy    rounds, guesses and places, told from the traces; draws and coins: how many were drawn
diagnose   which rule of course.mistakes has this law, else what was done: deeds, first, guessed,
           explain
shapes     which test, or which replacement, gives these numbers
mishaps    what no law shows: crashes, hangs, changed arguments, other sources of chance
manner     in which way a right function is slower; wrong: the reason and the case that shows it
texts      puts it together for generate and speculate; parts and residuals for accept and residual
values     marks a number by the formulas that give it
"""
