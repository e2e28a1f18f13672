"""The paper once more, naively: section 4, its losses and Algorithm 1, to compare the package with.

Written from the equations, not from the package: one sentence, one hypothesis and one step at a
time, loops, and nothing larger than a vector but the weights, which are read by their names. What
the package adds to the paper (docs/paper.md) is in :mod:`reference.extensions`, and what keeps
graphs valid in :mod:`reference.grammar`. Slow, and meant to be.
"""
