"""Small faults put into our own code on purpose: each must make a test fail.

    python -m tests.mutants [WORD ..]   all mutants, or those with one of the words

A word is a subject (the name of a module here) or a part of a mutant's name. Each mutant is a copy
of the tree with one thought of its code undone. A mutant that its tests do not notice is a test
that is missing. A new subject is a new module with a tuple MUTANTS; nothing has to list it.
"""
