"""Words to which a final period belongs."""

from __future__ import annotations

# A final period belongs to these (compared in lower case, without it). The second set may also end
# a sentence, the first hardly ever does.
TITLES = frozenset(
    """adm approx ave brig ca capt cf cmdr col cpl dept dr ed eds eg esp est fig figs fr gen gov hon
    hrs ie lt ltd maj messrs mlle mme mr mrs ms mt no nos op pp pres prof ref refs rep rev sen sgt
    sr st vol vols vs univ u.s u.k u.n e.g i.e dist resp viz""".split()
)
ABBREVIATIONS = TITLES | frozenset(
    """a.d a.m al b.c bros ca co corp d.c etc inc jr ph.d p.m sp spp jan feb mar apr jun jul aug sep
    sept oct nov dec mon tue wed thu fri sat sun min max ft hr oz lb lbs""".split()
)
# Ordinary words that happen to be abbreviations: only a lower-case word or a number after them
# makes them one.
AMBIGUOUS = frozenset(
    "no max min sat sun mar may fig al co sp ed op est fr gen mon wed dist".split()
)


def are_initials(word: str) -> bool:
    """Say whether a word is letters with periods, such as ``U.S`` before its last one."""
    return "." in word and all(len(part) == 1 for part in word.split("."))
