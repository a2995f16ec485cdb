"""The curator's house: REST and pages over the data sets that an owner serves, safe to face strangers.

    house = House.open(["bank.toml"])          # data sets, people, limits, the journal
    app = make_app(house)                      # FastAPI: REST and pages

What is where:

- `house.py`: what is served, and to whom; `dataset.py`: one data set, and everything that may be done with it
  by a person (REST and pages both go through it, so that roles, limits and deadlines hold in one place)
- `people.py`: who may come in, and tokens; `records.py`: the small tables that people and approvals live in
- `rest/`: the routes of /api; `pages/` and `lab/`: what browsers see
- `app.py`, `headers.py`, `failures.py`: the application, its headers, its one shape of errors

Pages find out who asks with `house.people.identify(token)`: a `Person` with a name and a role, or None. They
own their session cookie and the protection of their forms; tokens in cookies or forms reach nothing of /api,
which reads the Authorization header alone.
"""

from discreet.server.app import make_app
from discreet.server.house import House
from discreet.server.people import People, Person

__all__ = ["House", "People", "Person", "make_app"]
