"""Lints and renders the chart with Helm's own library: ``render.py CHART VALUES`` prints JSON.

Run by the Python of `make tools`. VALUES is a JSON object; the result has ``messages`` of the lint and
``manifests``, the text of each template by its path.
"""

import json
import sys

import helm_python


def main(chart: str, values: str) -> None:
    given = json.loads(values)
    report = helm_python.lint(chart, given, strict=True)
    manifests = helm_python.Chart.load(chart).render(given, name="tocsin", namespace="tocsin")
    json.dump(
        {"messages": report["messages"], "errors": report["errors"], "manifests": manifests}, sys.stdout
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
