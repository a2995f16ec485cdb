"""Numbers for the owner's monitoring: requests and the ledger, never data, never a duration."""

from discreet.numerics import short_down, short_up
from discreet.server.service import Service

_SIDES = {"spent": short_up, "budget": short_down}


async def metrics_text(service: Service) -> str:
    """The numbers, in the text format that Prometheus reads."""
    lines = ["# TYPE discreet_requests_total counter"]
    for (method, route, status), count in sorted(service.journal.counts().items()):
        lines.append(
            f'discreet_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
        )
    lines.append("# TYPE discreet_spent gauge")
    lines.append("# TYPE discreet_budget gauge")
    for dataset in service.datasets.values():
        for kind, notion in (await dataset.spending()).items():
            short = _SIDES[kind]
            for measure in ("epsilon", "delta", "rho", "mu"):
                if hasattr(notion, measure):
                    labels = f'dataset="{_escaped(dataset.name)}",measure="{measure}"'
                    lines.append(f"discreet_{kind}{{{labels}}} {short(getattr(notion, measure))}")
    return "\n".join(lines) + "\n"


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
