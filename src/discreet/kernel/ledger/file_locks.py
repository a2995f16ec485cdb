"""The system's locks on files. Where there are none (Windows), a ledger in a file is refused.

Tested by: tests/local/test_client.py
"""

from discreet.errors import InvalidParameter

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

__all__ = ["check_locks", "fcntl"]


def check_locks() -> None:
    """Refuse a system without locks before anything is made: two processes could spend one budget twice."""
    if fcntl is None:
        raise InvalidParameter(
            "ledger must lie where the system can lock files (Linux, macOS), and this system cannot. "
            "Use a ledger in PostgreSQL, or a server through dp.connect.",
            parameter="ledger",
        )
