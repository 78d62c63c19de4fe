"""What the lessons of "Guessing Ahead" import once they have built it.

models        toy models of one type: model(tokens) -> (T, V)
speculative   the accept/reject rule and the loop around it
exact         the exact law of any sampler (its parts: coin, chooser, watch)
stats         tests of a sampler against an exact law
attention     attention with its mask, as lesson 03 writes it out
trace         one generation, written down move by move
mistakes      the catalogue of wrong rules, and of rules that look wrong and are right (rules)
check         answers marked with a reason (marking: how that is done)
mine          your own copies of the exercises, in my/
progress      what is solved in them
release       the exercises, made from solutions/ (nbgrader)
gain          what guessing ahead gains, from alpha, gamma, c and v(n)
draw          figures, each with a sentence that says what it shows
puzzle        lines in a wrong order, to be put right
needs         what a lesson needs beside the core, and what it says where that is missing
machine       what this computer's memory and arithmetic can do (numba, torch)
kernel        few positions times many weights, as fast as the weights can be read
transformer   a small causal transformer (torch)
decoder       the same in NumPy, with a cache in place and roll-back; wider nets of the same law
pair          two trained models, their tokenizer and card (card: that text)
tales, ngram  the grammar of their text; a table that has counted it
train         makes the pair (torch)
widgets       four explorers for JupyterLab and the page
"""
