"""The curator's service: REST and pages over the data sets that an owner serves, safe to face strangers.

    service = Service.open(["bank.toml"])          # data sets, people, limits, the journal
    app = make_app(service)                      # FastAPI: REST and pages

What is where:

- `service.py`: what is served, and to whom; `dataset.py`: one data set, and everything that a person may do
  with it (REST and pages both go through it, so that roles, limits and deadlines hold in one place)
- `people.py`: who may come in, and tokens; `records.py`: the small tables that people and approvals live in
- `rest/`: the routes of /api; `pages/` and `lab/`: what browsers see
- `app.py`, `headers.py`, `failures.py`: the application, its headers, its one shape of errors

Pages find out who asks with `service.people.identify(token)`: a `Person` with a name and a role, or None.
They own their session cookie and the protection of their forms; tokens in cookies or forms do not open /api,
which reads the Authorization header alone.
"""

from discreet.server.app import make_app
from discreet.server.people import People, Person
from discreet.server.service import Service

__all__ = ["People", "Person", "Service", "make_app"]
