#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Check a dashboard of Grafana and the rules of a running Prometheus.

usage: dashboard.py DASHBOARD METRICS URL

Each metric that the dashboard or a rule names is in the file METRICS, as an exporter has printed it. The Prometheus at
URL has an answer to each query of the dashboard, and evaluates its rules without an error.
"""

import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

SECONDS = 90
VARIABLES = {"$__rate_interval": "30s", "$instance": ".*", "$device": ".*"}


def ask(url, path, **query):
    with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
        return json.load(answer)["data"]


def queries(dashboard):
    """Expressions of all panels, and of the variables."""
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield re.sub(r"label_values\((.*), \w+\)", r"\1", variable["query"]["query"])


def filled_in(query):
    for name, value in VARIABLES.items():
        query = query.replace(name, value)
    return query


def names(query):
    return set(re.findall(r"\b(?:node|hroce)_[a-z0-9_]+", query))


def unanswered(url, wanted):
    """Queries without an answer."""
    try:
        return [query for query in wanted if not ask(url, "query", query=query)["result"]]
    except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
        return [f"{url}: {error}"]


def main():
    path, metrics, url = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        wanted = [filled_in(query) for query in queries(json.load(file))]
    end = time.monotonic() + SECONDS
    while (left := unanswered(url, wanted)) and time.monotonic() < end:
        time.sleep(1)
    bad = [f"no answer: {query}" for query in left]

    rules = [] if left else [rule for group in ask(url, "rules")["groups"] for rule in group["rules"]]
    while any(rule["health"] == "unknown" for rule in rules) and time.monotonic() < end:
        time.sleep(1)
        rules = [rule for group in ask(url, "rules")["groups"] for rule in group["rules"]]
    bad += [f"{rule['name']}: {rule['health']} {rule.get('lastError', '')}" for rule in rules if rule["health"] != "ok"]

    urllib.request.urlretrieve("http://127.0.0.1:9100/metrics", metrics)
    with open(metrics, encoding="utf-8") as file:
        exported = set(re.findall(r"^(\w+)[{ ]", file.read(), re.M))
    used = set().union(*map(names, wanted), *(names(rule["query"]) for rule in rules))
    bad += [f"not exported: {name}" for name in sorted(used - exported)]
    print(*bad, sep="\n")
    print(f"{len(wanted)} queries, {len(rules)} rules, {len(used)} metrics")
    return bool(bad or not rules)


sys.exit(main())
