"""A policy that the tests of questions share."""

from discreet.asking.policy import from_toml

BANK = from_toml(
    """
[dataset]
id = "bank"
version = "2026-11"
population = 100000
budget = { epsilon = 1, delta = 1e-6 }

[tables.accounts]
unit = "person"
max_groups = 3
max_rows = 10
[tables.accounts.columns]
person = { type = "integer" }
id = { type = "integer" }
debt = { type = "number", bounds = [0, 10000000] }
income = { type = "number" }
age = { type = "integer", bounds = [0, 120] }
children = { type = "integer", bounds = [0, 20] }
city = { type = "text", keys = ["Ottawa", "Toronto", "Québec"] }
job = { type = "text" }
active = { type = "boolean" }
opened = { type = "date", bounds = ["2020-01-01", "2020-12-31"] }
seen = { type = "timestamp" }
code = { type = "text" }

[tables.payments]
unit = { through = "accounts", on = { account = "id" } }
max_groups = 2
max_rows = 5
[tables.payments.columns]
account = { type = "integer" }
amount = { type = "number", bounds = [0, 1000] }
shop = { type = "text" }
paid = { type = "date" }

[tables.visits]
unit = "visitor"
[tables.visits.columns]
visitor = { type = "integer" }
branch = { type = "text", keys = ["north", "south"] }
minutes = { type = "integer", bounds = [0, 600] }

[tables.survey]
each_row = true
[tables.survey.columns]
score = { type = "integer", bounds = [1, 5] }
remark = { type = "text" }

[public.cities]
key = "city"
[public.cities.columns]
city = { type = "text" }
province = { type = "text", keys = ["Ontario", "Quebec"] }
size = { type = "integer", bounds = [0, 10000000] }
region = { type = "integer" }

[public.regions]
key = "region"
[public.regions.columns]
region = { type = "integer" }
label = { type = "text" }
"""
)
