"""Local frequency oracles of pure-LDP, as it is. Each function sets up and returns the work to time."""

import xxhash

_digest = xxhash.xxh32


def _accept_text():
    """xxhash 4 refuses text, which pure-LDP gives it."""

    def digest(value, *rest, **more):
        return _digest(value.encode() if isinstance(value, str) else value, *rest, **more)

    xxhash.xxh32 = digest


def olh_client(values, epsilon, size):
    """Optimal local hashing: one call for each person."""
    _accept_text()
    from pure_ldp.frequency_oracles.local_hashing import LHClient

    client = LHClient(epsilon=epsilon, d=values, use_olh=True)
    return lambda: [client.privatise(1 + i % values) for i in range(size)]


def olh_server(values, epsilon, size):
    """Optimal local hashing: aggregate each report, then estimate all."""
    _accept_text()
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer

    client = LHClient(epsilon=epsilon, d=values, use_olh=True)
    reports = [client.privatise(1 + i % values) for i in range(size)]

    def work():
        server = LHServer(epsilon=epsilon, d=values, use_olh=True)
        for report in reports:
            server.aggregate(report)
        server.estimate_all(range(1, values + 1), suppress_warnings=True)

    return work
