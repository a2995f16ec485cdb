"""Published mechanisms, drawn from on request: each takes data and n and returns n outputs as a list."""


def diffprivlib_laplace(data, n):
    """diffprivlib's Laplace mechanism, epsilon 1, sensitivity 1."""
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=1, sensitivity=1)
    return [mechanism.randomise(float(data)) for _ in range(n)]


def pure_ldp_rappor(data, n):
    """pure-LDP's RAPPOR client with one hash function and one cohort, f from its own convert_eps_to_f(1)."""
    from pure_ldp.frequency_oracles.rappor import RAPPORClient

    bits = 8
    hashes = [[lambda text: int(text) % bits]]
    client = RAPPORClient(f=0.0, m=bits, hash_funcs=hashes, num_of_cohorts=1)
    client.update_params(f=client.convert_eps_to_f(1), hash_funcs=hashes)
    return [client.privatise(data + 1)[0] for _ in range(n)]


def opendp_threshold(data, n):
    """OpenDP's laplace_threshold over counts by key: what is published of a key that `data` people hold."""
    measurement = _opendp_threshold()
    counts = {"key": data} if data else {}
    return [measurement(counts).get("key", -1) for _ in range(n)]


def opendp_threshold_claim(data, n):
    """What OpenDP says it costs when one person changes one key by one: (epsilon, delta)."""
    return list(_opendp_threshold().map((1, 1, 1)))


def _opendp_threshold():
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics")
    space = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)),
        dp.l01inf_distance(dp.absolute_distance(T=int)),
    )
    return dp.m.make_laplace_threshold(*space, scale=1.0, threshold=5)
