"""Runs in the rivals' environment: draws outputs of a published mechanism on request.

Each line of standard input is JSON {"target", "data", "n"}; the answer on standard output is the length of a
.npy array in bytes, a line break, and the array.
"""

import io
import json
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")


def diffprivlib_laplace(data, n):
    """diffprivlib's Laplace mechanism, epsilon 1, sensitivity 1."""
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=1, sensitivity=1)
    return np.array([mechanism.randomise(float(data)) for _ in range(n)])


def pure_ldp_rappor(data, n):
    """pure-LDP's RAPPOR client with one hash function and one cohort, f from its own convert_eps_to_f(1)."""
    from pure_ldp.frequency_oracles.rappor import RAPPORClient

    bits = 8
    hashes = [[lambda text: int(text) % bits]]
    client = RAPPORClient(f=0.0, m=bits, hash_funcs=hashes, num_of_cohorts=1)
    client.update_params(f=client.convert_eps_to_f(1), hash_funcs=hashes)
    return np.array([client.privatise(int(data) + 1)[0] for _ in range(n)])


def opendp_threshold(data, n):
    """OpenDP's laplace_threshold over counts by key: how often a key with `data` people is published."""
    measurement = _opendp_threshold()
    counts = {"key": int(data)} if data else {}
    return np.array([measurement(counts).get("key", -1) for _ in range(n)])


def opendp_threshold_claim(data, n):
    """What OpenDP says it costs when one person changes one key by one: (epsilon, delta)."""
    return np.array(_opendp_threshold().map((1, 1, 1)))


def _opendp_threshold():
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics")
    space = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)),
        dp.l01inf_distance(dp.absolute_distance(T=int)),
    )
    return dp.m.make_laplace_threshold(*space, scale=1.0, threshold=5)


def main():
    """Serve requests until standard input ends."""
    sent = sys.stdout.buffer
    for line in sys.stdin:
        request = json.loads(line)
        outputs = globals()[request["target"]](request["data"], request["n"])
        packed = io.BytesIO()
        np.save(packed, outputs)
        sent.write(f"{packed.tell()}\n".encode() + packed.getvalue())
        sent.flush()


if __name__ == "__main__":
    main()
