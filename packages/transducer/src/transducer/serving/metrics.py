"""What ``/metrics`` tells: counters and a histogram, in the text format of Prometheus.

>>> metrics = Metrics()
>>> metrics.count("arbora_requests_total", path="/v1/parse", status=200)
>>> metrics.took(0.03)
>>> print(metrics.text({"arbora_queue": 2}))   # doctest: +ELLIPSIS
# TYPE arbora_requests_total counter
arbora_requests_total{path="/v1/parse",status="200"} 1
...
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock

BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the histogram of seconds."""

_SECONDS = "arbora_request_seconds"


class Metrics:
    """Numbers that only grow; safe for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counters: dict[str, Counter[str]] = {}
        self._buckets = [0] * len(BOUNDS)
        self._seconds = 0.0
        self._requests = 0

    def count(self, name: str, amount: int = 1, **labels: object) -> None:
        """Add to a counter."""
        label = ",".join(f'{key}="{value}"' for key, value in labels.items())
        with self._lock:
            self._counters.setdefault(name, Counter())[label] += amount

    def took(self, seconds: float) -> None:
        """Note how long a request took."""
        with self._lock:
            self._seconds += seconds
            self._requests += 1
            for place, bound in enumerate(BOUNDS):
                self._buckets[place] += seconds <= bound

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return all numbers, and *gauges*: what they are now."""
        with self._lock:
            lines: list[str] = []
            for name, counter in sorted(self._counters.items()):
                lines.append(f"# TYPE {name} counter")
                lines += [
                    f"{name}{{{label}}} {value}" if label else f"{name} {value}"
                    for label, value in sorted(counter.items())
                ]
            lines.append(f"# TYPE {_SECONDS} histogram")
            buckets = zip(
                (*map(str, BOUNDS), "+Inf"), (*self._buckets, self._requests), strict=True
            )
            lines += [f'{_SECONDS}_bucket{{le="{bound}"}} {value}' for bound, value in buckets]
            lines += [f"{_SECONDS}_sum {self._seconds:.6f}", f"{_SECONDS}_count {self._requests}"]
        for name, value in gauges.items():
            lines += [f"# TYPE {name} gauge", f"{name} {value}"]
        return "\n".join(lines) + "\n"
