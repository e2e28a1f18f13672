"""Every metric equals its definition, written down once more (tools/reference_metrics.py)."""

import sys
from pathlib import Path
from typing import Any

import pytest

from graphconv.check import SAMPLE
from graphconv.testing import CORPORA

TOOLS = Path(__file__).parents[3] / "tools"
LPPS = CORPORA / "mrp/lpps.mrp"


@pytest.fixture(scope="module")
def tool() -> Any:
    if not TOOLS.exists():
        pytest.skip("needs the repository")
    sys.path.insert(0, str(TOOLS))
    try:
        import measure_metrics
    finally:
        sys.path.remove(str(TOOLS))
    return measure_metrics


def assert_equal(found: dict[str, Any], pairs: int) -> None:
    assert sum(comparison.pairs for comparison in found.values()) >= pairs
    for name, comparison in found.items():
        assert comparison.equal == comparison.pairs, name


def test_amr(tool: Any) -> None:
    paths = [SAMPLE / "sample.amr", TOOLS.parent / "data/amr/open-dev.graphs"]
    assert_equal(tool.compare_amr(tool.amr_pairs(paths, 40)), 4 * 40)


@pytest.mark.corpora
@pytest.mark.skipif(not LPPS.exists(), reason="needs the MRP sample")
def test_mrp(tool: Any) -> None:
    found = tool.compare_mrp(tool.mrp_pairs(LPPS, 50))
    assert_equal(found, 50)
    assert len(found) == 5


def test_a_wrong_metric_is_noticed(tool: Any) -> None:
    comparison = tool.Comparison()
    comparison.add((lambda x: [x], (1.0,)), (lambda x: [x], (1.0,)))
    comparison.add((lambda x: [x], (1.0,)), (lambda x: [x], (0.9,)))
    assert (comparison.pairs, comparison.equal) == (2, 1)
    assert str(comparison).startswith("1 of 2 pairs equal")
