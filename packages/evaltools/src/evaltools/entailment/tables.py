"""What ``entails`` knows about words: short lists, to be read and argued with.

All but :data:`OPPOSITES` and :data:`SYMMETRIC` are by lemma, so every sense and every framework is
meant. A word that is in no list is opaque: what it embeds is not taken as said.
"""

from __future__ import annotations

FACTIVE = frozenset(
    "know realize discover notice regret remember see hear observe recognize reveal prove "
    "surprise celebrate mourn".split()
)
"""What they embed holds, even where they are negated."""

IMPLICATIVE = frozenset(
    "manage begin start continue finish complete happen dare cause help bother succeed include "
    "correlate follow result lead".split()
)
"""What they embed holds where they hold, and does not where they are negated."""

REVERSING = frozenset("forget fail refuse avoid prevent decline neglect omit hinder".split())
"""What they embed does not hold where they hold."""

BLOCKED = frozenset({"possible", "permit", "allow", "able", "capable"})
"""Opaque; but where they are negated, what they embed does not hold."""

UNREAL_ROLES = frozenset({"condition", "purpose", "concession-of"})
"""Roles whose target is not said to hold."""

ALMOST = frozenset({"almost", "nearly"})
"""What they modify did not happen, or only nearly."""

PRIVATIVE = frozenset(
    "fake former alleged false supposed imaginary fictional potential would-be toy counterfeit "
    "so-called ex future".split()
)
"""A fake gun is no gun: without this modifier the claim says something else."""

PRIVATIVE_FRAMES = frozenset({"allege", "suppose", "pretend", "rumor"})
"""The same as a frame: ``:ARG1-of allege-01``."""

UNIVERSAL = frozenset({"all", "every", "each", "any", "whole"})
"""A modifier that makes a description narrower in what follows from it."""

NEGATIONS = frozenset({"not", "n't", "never", "no", "neg", "#neg", "nobody", "none", "without"})
"""Words that negate their neighbors in frameworks other than AMR."""

PRONOUNS = frozenset("i we you he she it they this that".split())

INDEFINITE = frozenset({"person", "thing", "someone", "anyone", "something", "anything", "one"})
"""As the agent of a negated predicate these are *nobody* and *nothing*."""

CONJUNCTIONS = {"and": "op", "multi-sentence": "snt", "contrast-01": "ARG"}
"""Concepts that hold for each of their parts, and the roles of these."""

SYMMETRIC = {
    "meet-02": ("ARG0", "ARG1"),
    "meet-03": ("ARG0", "ARG1"),
    "marry-01": ("ARG1", "ARG2"),
    "divorce-01": ("ARG0", "ARG1"),
    "resemble-01": ("ARG1", "ARG2"),
    "equal-01": ("ARG1", "ARG2"),
    "differ-02": ("ARG1", "ARG2"),
    "border-01": ("ARG0", "ARG1"),
    "date-02": ("ARG0", "ARG1"),
    "cooperate-01": ("ARG0", "ARG1"),
    "neighbor-01": ("ARG0", "ARG1"),
    "collide-01": ("ARG0", "ARG1"),
    "same-01": ("ARG1", "ARG2"),
}
"""Frames in which two roles can be exchanged."""

_PAIRS = (
    "rise-01 fall-01", "rise-01 drop-01", "increase-01 decrease-01", "rise-01 decrease-01",
    "open-01 close-01", "open-01 shut-01", "accept-01 reject-01", "approve-01 reject-01",
    "agree-01 disagree-01", "win-01 lose-03", "love-01 hate-01", "like-01 dislike-01",
    "begin-01 end-01", "start-01 stop-01", "start-01 end-01", "live-01 die-01", "enter-01 leave-11",
    "arrive-01 depart-01", "remember-01 forget-01", "succeed-01 fail-01", "allow-01 forbid-01",
    "permit-01 forbid-01", "permit-01 prohibit-01", "include-01 exclude-01",
    "appear-01 disappear-01",
    "confirm-01 deny-01", "support-01 oppose-01", "strengthen-01 weaken-01", "good-02 bad-07",
    "hot-05 cold-01", "calm-03 rough-04", "possible-01 impossible-01", "true-01 false-01",
    "rich poor", "alive dead", "old young", "big small", "large small", "strong-02 weak-02",
    "full empty", "long-03 short-07", "high-02 low-04", "fast-02 slow-05",
    "safe-01 dangerous-02", "easy-05 difficult", "legal-02 illegal", "present absent-01",
)  # fmt: skip

OPPOSITES = frozenset(frozenset(pair.split()) for pair in _PAIRS)
"""Concepts that cannot both hold of the same thing."""

UNITS = {
    "second": ("time", 1.0),
    "minute": ("time", 60.0),
    "hour": ("time", 3600.0),
    "day": ("time", 86400.0),
    "week": ("time", 604800.0),
    "month": ("time", 2629746.0),
    "year": ("time", 31556952.0),
    "decade": ("time", 315569520.0),
    "century": ("time", 3155695200.0),
    "meter": ("length", 1.0),
    "centimeter": ("length", 0.01),
    "millimeter": ("length", 0.001),
    "kilometer": ("length", 1000.0),
    "mile": ("length", 1609.344),
    "foot": ("length", 0.3048),
    "inch": ("length", 0.0254),
    "gram": ("mass", 1.0),
    "kilogram": ("mass", 1000.0),
    "ton": ("mass", 1000000.0),
    "pound": ("mass", 453.59237),
}
"""Units with what they measure, and how many of the first one they are."""
