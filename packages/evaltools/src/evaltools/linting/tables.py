"""What AMR 1.2.6 knows by name: types of entities, roles, and concepts that stand for no word.

The lists are facts of the AMR guidelines. Frames come from PropBank, which the user names.

>>> "government-organization" in ENTITY_TYPES, "weekday" in ROLES, "monetary-quantity" in ABSTRACT
(True, True, True)
"""

from __future__ import annotations

_ENTITY_TYPES = {
    "person and group": """
        person family animal language nationality ethnic-group regional-group religious-group
        political-movement
    """,
    "organization": """
        organization company government-organization military criminal-organization political-party
        market-sector school university research-institute team league
    """,
    "location": """
        location city city-district county state province territory country local-region
        country-region world-region continent ocean sea lake river gulf bay strait canal peninsula
        mountain volcano valley canyon island desert forest moon planet star constellation
    """,
    "facility": """
        facility airport station port tunnel bridge road railway-line canal building theater museum
        palace hotel worship-place market sports-facility park zoo amusement-park
    """,
    "event": """
        event incident natural-disaster earthquake war conference game festival
    """,
    "product": """
        product vehicle ship aircraft aircraft-type spaceship car-make work-of-art picture music
        show broadcast-program
    """,
    "publication": """
        publication book newspaper magazine journal
    """,
    "natural object": """
        natural-object
    """,
    "other": """
        award law court-decision treaty music-key musical-note food-dish writing-script variable
        program thing
    """,
    "biomedical": """
        molecular-physical-entity small-molecule protein protein-family protein-segment amino-acid
        macro-molecular-complex enzyme nucleic-acid pathway gene dna-sequence cell cell-line species
        taxon disease medical-condition
    """,
}

_ROLES = {
    "non-core": """
        accompanier age beneficiary concession condition consist-of degree destination direction
        domain duration example extent frequency instrument li location manner medium mod mode name
        ord part path polarity polite poss purpose quant range scale source subevent time topic unit
        value wiki
    """,
    "date-entity": """
        calendar century day dayperiod decade era month quarter season timezone weekday year year2
    """,
    "shortcut": """
        cause compared-to cost employed-by meaning role subset subset-of superset vocative
    """,
}

_ABSTRACT = {
    "question": """
        amr-unknown amr-choice
    """,
    "discourse": """
        multi-sentence
    """,
    "truth": """
        truth-value
    """,
    "conjunction": """
        and or contrast-01 slash
    """,
    "name": """
        name
    """,
    "entity": """
        date-entity date-interval ordinal-entity percentage-entity phone-number-entity
        email-address-entity url-entity score-entity string-entity value-interval
    """,
    "quantity": """
        monetary-quantity distance-quantity area-quantity volume-quantity temporal-quantity
        frequency-quantity speed-quantity acceleration-quantity mass-quantity force-quantity
        pressure-quantity energy-quantity power-quantity voltage-quantity charge-quantity
        potential-quantity resistance-quantity inductance-quantity magnetic-field-quantity
        magnetic-flux-quantity radiation-quantity concentration-quantity temperature-quantity
        score-quantity fuel-consumption-quantity seismic-quantity angle-quantity acidity-quantity
    """,
}


def _words(table: dict[str, str]) -> frozenset[str]:
    return frozenset(word for words in table.values() for word in words.split())


ENTITY_TYPES = _words(_ENTITY_TYPES)
"""The types of a node with ``:name``."""

ROLES = _words(_ROLES)
"""The roles, but for those with a number and those that start with ``prep-`` or ``conj-``."""

DATE_ROLES = frozenset(_ROLES["date-entity"].split())
"""The roles of ``date-entity`` alone."""

ABSTRACT = _words(_ABSTRACT)
"""Concepts that stand for no word of the sentence."""

MODES = frozenset({"imperative", "expressive", "interrogative"})
"""The values of ``:mode``."""

USED_FRAMES = frozenset({"deep-02", "found-01", "real-04"})
"""Frames that AMR treebanks use and PropBank's table no longer has."""
