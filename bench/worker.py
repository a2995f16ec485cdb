"""Runs in the rivals' environment: times the cases of bench/rivals on request, one JSON line for each."""

import importlib
import json
import resource
import sys
import time
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
_prepared = {}


def find(case):
    """The function that module:function names in bench/rivals."""
    module, name = case.split(":")
    return getattr(importlib.import_module(f"bench.rivals.{module}"), name)


def measure(case, parameters, rehearsals, clock):
    """A case is a function that sets up and returns the work to time."""
    key = case, json.dumps(parameters, sort_keys=True)
    if key not in _prepared:
        _prepared[key] = find(case)(**parameters)
        for _ in range(rehearsals):
            _prepared[key]()
    start = clock()
    _prepared[key]()
    return clock() - start


def main():
    for line in sys.stdin:
        request = json.loads(line)
        if "versions" in request:
            answer = {name: version(name) for name in request["versions"]}
        elif "memory" in request:
            answer = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        elif "draw" in request:
            answer = find(request["draw"])(**request["parameters"])
        else:
            clock = time.process_time if request.get("processor") else time.perf_counter
            answer = measure(request["case"], request["parameters"], request["rehearsals"], clock)
        print(json.dumps({"answer": answer}), flush=True)


if __name__ == "__main__":
    main()
