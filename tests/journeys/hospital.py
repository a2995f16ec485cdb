"""An invented hospital for journeys and pictures: 200 wards, long labels, other scripts, dates."""

import json
import random

ROWS = 4000
WARDS = [f"Ward {i:03d}" for i in range(200)]
LONG = [f"Department of Cardiology and Thoracic Surgery, North Building, second floor, {w}" for w in "ABCDE"]
CLINICS = [*LONG, "Отделение кардиологии", "心臓内科", "قسم القلب"]
POLICY = """
[dataset]
id = "hospital"
population = {rows}
budget = {{ epsilon = 40, delta = 1e-6 }}
per_analyst = {{ epsilon = 20, delta = 1e-6 }}
[server]
deadline_s = 2
approve_above = {{ epsilon = 4, delta = 1e-6 }}
[tables.hospital]
source = "hospital.csv"
unit = "person"
limit = 1
[tables.hospital.columns]
person = {{ type = "integer" }}
age = {{ type = "integer", bounds = [0, 100] }}
cost = {{ type = "number", bounds = [0, 10000] }}
stay = {{ type = "integer", bounds = [0, 30] }}
ward = {{ type = "text", keys = {wards} }}
clinic = {{ type = "text", keys = {clinics} }}
day = {{ type = "date", bounds = [2025-01-01, 2025-12-31] }}
sex = {{ type = "text", keys = ["f", "m", "x"] }}
"""
# A question for every shape of chart.
SHAPES = {
    "tiles": "SELECT COUNT(*) AS n, AVG(cost) AS mean, AVG(stay) AS stay FROM hospital",
    "bars": "SELECT sex, COUNT(*) AS n FROM hospital GROUP BY sex",
    "dots": "SELECT clinic, COUNT(*) AS n FROM hospital GROUP BY clinic",
    "many": "SELECT ward, COUNT(*) AS n FROM hospital GROUP BY ward",
    "line": "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n FROM hospital GROUP BY month",
    "heat": "SELECT sex, clinic, COUNT(*) AS n FROM hospital GROUP BY sex, clinic",
    "grouped": "SELECT sex, CASE WHEN age < 18 THEN 'child' ELSE 'grown' END AS who, COUNT(*) AS n"
    " FROM hospital GROUP BY sex, who",
    "chosen": "SELECT MEDIAN(age) AS median FROM hospital",
}


def write_hospital(folder):
    """Write the policy and its rows, and return where the policy is."""
    draw = random.Random(7)
    lines = ["person,age,cost,ward,clinic,day,sex,stay"]
    for person in range(ROWS):
        day = f"2025-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        clinic, ward = (
            CLINICS[min(7, int(draw.expovariate(0.5)))],
            WARDS[min(199, int(draw.expovariate(0.02)))],
        )
        stay, sex = draw.randint(0, 30), draw.choice("ffmmx")
        lines.append(
            f'{person},{draw.randint(0, 99)},{draw.randint(0, 9000)},{ward},"{clinic}",{day},{sex},{stay}'
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hospital.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    policy = folder / "hospital.toml"
    keys = {
        name: json.dumps(labels, ensure_ascii=False)
        for name, labels in (("wards", WARDS), ("clinics", CLINICS))
    }
    policy.write_text(POLICY.format(rows=ROWS, **keys), encoding="utf-8")
    return policy


def ask_all(served, *, epsilon=1, who="ann"):
    """Ask every question, and return the number of each answer."""
    for sql in SHAPES.values():
        served.send("POST", "/api/datasets/hospital/ask", who=who, body={"sql": sql, "epsilon": epsilon})
    listed = served.send("GET", "/api/datasets/hospital/history", who=who).json["history"]
    charges = [each["sequence"] for each in listed if each["kind"] == "charge"]
    return dict(zip(SHAPES, charges, strict=True))
