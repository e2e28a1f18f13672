"""Quantities of decoded AMR: what unit and number say decides."""

import pytest

from graphconv import Graph, loads
from transducer.frameworks.amr.constants import repair_constants
from transducer.frameworks.amr.gazetteer import Gazetteer
from transducer.frameworks.amr.quantities import repair_quantities
from transducer.frameworks.amr.recover import recover
from transducer.parsing.evaluation import headline


def amr(text: str) -> Graph:
    return loads(f"# ::id 1\n# ::snt -\n{text}\n")[0]


@pytest.mark.parametrize(
    ("kind", "unit", "meant", "written"),
    [
        ("temporal-quantity", "kilometre", "distance-quantity", "kilometer"),
        ("monetary-quantity", "tonne", "mass-quantity", "tonne"),
        ("temporal-quantity", "€", "monetary-quantity", "euro"),
        ("temporal-quantity", "pound", "mass-quantity", "pound"),
        ("monetary-quantity", "pound", "monetary-quantity", "pound"),
        ("angle-quantity", "degree", "angle-quantity", "degree"),
        ("distance-quantity", "degree", "temperature-quantity", "degree"),
        ("distance-quantity", "block", "distance-quantity", "block"),
        ("rate-entity-91", "hour", "rate-entity-91", "hour"),
    ],
)
def test_the_unit_decides_the_kind(kind: str, unit: str, meant: str, written: str) -> None:
    repaired = repair_quantities(amr(f"(q / {kind} :quant 3 :unit (u / {unit}))"))
    assert repaired == amr(f"(q / {meant} :quant 3 :unit (u / {written}))")


def test_a_number_as_unit_is_left_alone() -> None:
    graph = amr("(q / temporal-quantity :quant 3 :unit 4)")
    assert repair_quantities(graph) == graph


def test_percent_is_no_unit() -> None:
    repaired = recover(
        repair_quantities(amr("(q / monetary-quantity :quant 5 :unit (u / percent))"))
    )
    assert repaired == amr("(q / percentage-entity :value 5)")


def test_a_percent_that_says_more_stays() -> None:
    text = "(q / {} :{} 5 :unit (u / percent :mod (o / other)))"
    repaired = repair_quantities(amr(text.format("mass-quantity", "quant")))
    assert repaired == amr(text.format("percentage-entity", "value"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(b / boy :quant (m / more :op1 10))", "(b / boy :quant (m / more-than :op1 10))"),
        ("(b / boy :quant (u / up :op1 10))", "(b / boy :quant (u / up-to :op1 10))"),
        (
            "(c / cost-01 :ARG2 (o / over :op1 (m / monetary-quantity :quant 5)))",
            "(c / cost-01 :ARG2 (o / more-than :op1 (m / monetary-quantity :quant 5)))",
        ),
        ("(f / fly-01 :path (o / over :op1 (b / bridge)))",) * 2,
        ("(h / have-degree-91 :ARG3 (m / more))",) * 2,
        ("(a / and :op1 10 :op2 12)",) * 2,
    ],
)
def test_comparisons_with_a_quantity_have_names_of_their_own(before: str, after: str) -> None:
    assert repair_quantities(amr(before)) == amr(after)


def test_a_string_as_name_becomes_a_name() -> None:
    graph = amr('(p / person :name "Icelanders" :mod (o / old))')
    repaired = recover(repair_constants(graph, Gazetteer({}), str.lower))
    expected = amr('(p / person :name (n / name :op1 "Icelanders") :mod (o / old))')
    assert headline([expected], [repaired]).f1 == 100
