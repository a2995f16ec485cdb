"""The PostgreSQL protocol server: data sets for psql, drivers and BI tools, through the same service as REST.

- `server.py` accepts connections and negotiates TLS; `authentication.py` authenticates by SCRAM-SHA-256.
- `wire.py` reads and writes messages, `formats.py` values, `failures.py` errors.
- `message_loop.py` follows the protocol; `client_session.py` decides what each statement does.
- `statements.py` and `settings.py` read statements; `catalogue.py` answers questions about tables and types
  from the policy alone, in memory, without data.
"""

from discreet.apps.postgres.server import PostgresServer, is_loopback, open_tls

__all__ = ["PostgresServer", "is_loopback", "open_tls"]
