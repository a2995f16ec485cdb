"""The JavaScript client: the committed vectors in Python and Node, refusals, an audit of its reports."""

import json
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dp
from discreet.testing import Tape

HERE = Path(__file__).parent
VECTORS = json.loads((HERE / "vectors.json").read_text())


def node(command, **given):
    words = ["node", str(HERE / "run_vectors.js"), command, json.dumps(given)]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("group", VECTORS, ids=lambda group: group["protocol"]["protocol"])
def test_python_gives_the_reports_of_the_vectors(group):
    protocol = dp.local.from_json(group["protocol"])
    for case in group["cases"]:
        tape = Tape(int(word, 16) for word in case["words"])
        assert protocol._randomize([case["value"]], tape) == [case["report"]]
        assert tape.left == 0


def test_node_gives_the_same_reports_and_a_changed_one_is_seen(tmp_path):
    assert node("vectors") == {"same": sum(len(group["cases"]) for group in VECTORS)}
    kinds = {group["protocol"]["protocol"] for group in VECTORS}
    assert kinds == {"choice", "projective", "window", "wave", "questions"}
    folder = tmp_path / "tests" / "local"
    folder.mkdir(parents=True)
    (tmp_path / "src").symlink_to(HERE.parents[1] / "src")
    (folder / "run_vectors.js").write_text((HERE / "run_vectors.js").read_text())
    changed = json.loads(json.dumps(VECTORS))
    changed[-1]["cases"][-1]["report"]["a"] += 1
    (folder / "vectors.json").write_text(json.dumps(changed))
    run = subprocess.run(
        ["node", str(folder / "run_vectors.js"), "vectors"], capture_output=True, check=False
    )
    assert run.returncode == 1


@pytest.mark.parametrize("group", VECTORS[:-2:3], ids=lambda group: group["protocol"]["protocol"])
def test_the_client_proves_the_price_before_it_answers(group):
    protocol = group["protocol"]
    assert node("refused", protocol=protocol) == {"refused": False}
    dearer = protocol | {"threshold": str(int(protocol["threshold"]) + 1)}
    assert node("refused", protocol=dearer) == {"refused": True}
    cheaper = protocol | {"epsilon": str(Fraction(protocol["epsilon"]) * Fraction(999, 1000))}
    assert node("refused", protocol=cheaper) == {"refused": True}


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"version": 2},
        {"protocol": "other"},
        {"field": 6},
        {"digits": 1},
        {"epsilon": "-1"},
        {"threshold": "x"},
    ],
)
def test_a_protocol_that_the_client_does_not_know_is_refused(wrong):
    stored = dp.local.choice(domain=1000, epsilon=1).to_json()
    assert node("refused", protocol=stored | wrong if wrong else {}) == {"refused": True}


def test_a_report_is_kept_before_it_is_sent_and_the_same_bytes_are_sent_again():
    """Fifty fresh reports would all be equal with probability below 1e-6: these are the kept bytes."""
    protocol = dp.local.choice(domain=50, epsilon=1).to_json()
    found = node("client", protocol=protocol, value=3, other=7)
    assert len(found["bytes"]) == 1
    assert json.loads(found["bytes"][0])["survey"] == "socks"
    assert found["spent"] == "1"
    assert found["refusals"] == [True, True, True]


def test_a_permanent_answer_has_one_report_for_each_value_and_pays_for_each():
    protocol = dp.local.choice(domain=50, epsilon=1).to_json()
    found = node("permanent", protocol=protocol, values=[3, 7, 9])
    assert found == {"even": 1, "odd": 1, "spent": "2", "refused": 2}


def test_surveys_answered_at_once_keep_the_limit_in_all():
    protocol = dp.local.choice(domain=1 << 16, seed="june", epsilon=1).to_json()
    assert node("crowd", protocol=protocol, value="tea") == {"sent": 3, "spent": "3"}


def test_a_protocol_cannot_make_the_client_report_what_its_price_was_not_proved_for():
    """A choice of two values with bounds as well would report a level beyond the values as null."""
    choice = dp.local.choice(values=["a", "b"], epsilon=1).to_json()
    number = dp.local.number(bounds=(0, 100), epsilon=1).to_json()
    for wrong in (
        choice | {"bounds": ["0", "100"], "levels": 100, "window": 1},
        choice | {"values": "ab"},
        choice | {"values": {"length": 2}},
        choice | {"protocol": "constructor"},
        number | {"values": ["a", "b"]},
        number | {"domain": 5},
        number | {"bounds": ["1", "0"]},
    ):
        assert node("refused", protocol=wrong) == {"refused": True}, wrong


def test_several_questions_are_checked_like_single_ones():
    survey = dp.local.Questions({"a": {"values": ["x", "y"]}, "b": {"bounds": (0, 9)}}, epsilon=1)
    stored = survey.to_json()
    assert node("refused", protocol=stored) == {"refused": False}
    first, second = stored["questions"]
    dear = dp.local.choice(values=["x", "y"], epsilon=2).to_json()
    for wrong in (
        {"epsilon": "1/2"},
        {"asked": 2},
        {"asked": 0},
        {"questions": []},
        {"questions": [first, first]},
        {"questions": [{"name": "a", "protocol": stored}, second]},
        {"questions": [{"name": "a", "protocol": dear}, second]},
        {"questions": [None, second]},
    ):
        assert node("refused", protocol=stored | wrong) == {"refused": True}, wrong
    answers = [
        {"a": "x", "b": 3},
        {"a": "x"},
        {"a": "z", "b": 3},
        {"a": "x", "b": None},
        {"a": "x", "b": 3, "c": 1},
        3,
        None,
    ]
    for _ in range(5):  # whichever question is drawn
        assert node("attempts", protocol=stored, values=answers) == [False] + [True] * 6
    hashed = dp.local.choice(domain=100, seed="june", epsilon=1).to_json()
    assert node("attempts", protocol=hashed, values=["tea", "\ud800", 3]) == [False, True, True]


@pytest.mark.slow
@pytest.mark.parametrize(
    "protocol",
    [
        dp.local.choice(values=["yes", "no"], epsilon=1),
        dp.local.ProjectiveChoice(values=range(9), epsilon=1, field=4),
        dp.local.Choice(values=range(6), epsilon=1, size=2),
        dp.local.number(bounds=(0, 15), epsilon=1),
        dp.local.distribution(bounds=(0, 15), epsilon=1, bins=4),
        dp.local.Questions({"a": {"values": ["x", "y"]}, "b": {"values": ["x", "y"]}}, epsilon=1),
    ],
    ids=lambda protocol: protocol.protocol,
)
def test_reports_of_the_javascript_client_keep_the_price(protocol):
    """20,000 reports of each neighbour. A claim of half the price is refuted: the audit has power."""
    if protocol.protocol == "questions":
        values = [{"a": each, "b": each} for each in "xy"]
    else:
        values = [0, 15] if hasattr(protocol, "bounds") else [protocol.values[0], protocol.values[-1]]

    def sample(data, n):
        return [
            json.dumps(report) for report in node("reports", protocol=protocol.to_json(), value=data, count=n)
        ]

    setting = {"neighbours": [tuple(values)], "samples": 20_000, "confidence": 1 - 1e-9}
    assert dp.audit(sample, claim=1, **setting).verdict == "not refuted"
    assert dp.audit(sample, claim=0.5, **setting).verdict == "violated"


# --- faults planted in the script: the audit of its reports finds each, and the vectors do -----------------

FIELD = dp.local.ProjectiveChoice(values=range(9), epsilon=1, field=3)
TRUTHFUL = "const truthful = words() < BigInt(protocol.threshold);\n        let digit"
FAULTS = {
    "a hash chosen by the client": (
        FIELD,
        ["const z = uniformBelow(words, (q ** digits - 1) / (q - 1));", "const z = place % 4; words();"],
    ),
    "a threshold in floats of four bits": (
        dp.local.ProjectiveChoice(values=range(9), epsilon=4, field=3),
        [
            TRUTHFUL,
            "const truthful = Number(words() >> 60n) / 16 <= Number(protocol.threshold) / 2 ** 64;\n"
            "        let digit",
        ],
    ),
    "a biased draw of the other digit": (
        FIELD,
        [
            "digit = (digit + 1 + uniformBelow(words, q - 1)) % q;",
            "digit = (digit + uniformBelow(words, q)) % q;",
        ],
    ),
    "a biased draw of other values": (
        dp.local.Choice(values=range(6), epsilon=1, size=2),
        ["if (word < limit) return Number(word % size);", "return Number((word >> 62n) % size);"],
    ),
}


def audit(protocol, faults, *, command="reports", neighbours=(0, 5), claim=None, samples=20_000):
    def sample(data, n):
        found = node(command, protocol=protocol.to_json(), value=data, count=n, faults=faults)
        return [json.dumps(report) for report in found]

    setting = {"neighbours": [neighbours], "samples": samples, "confidence": 1 - 1e-9}
    return dp.audit(sample, claim=claim or protocol.epsilon, **setting).verdict


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_the_audit_finds_a_fault_planted_in_the_script(name):
    """Here the same audit of the script as it stands finds nothing; false alarms below 1e-9."""
    protocol, fault = FAULTS[name]
    assert audit(protocol, [fault]) == "violated"
    assert audit(protocol, []) == "not refuted"


REUSED = [
    "const report = await randomize(protocol, value);",
    """this.tape = this.tape || [];
      const fresh = secureWords();
      let at = 0;
      const report = await draw(protocol, value, () => {
        if (at === this.tape.length) this.tape.push(fresh());
        at += 1;
        return this.tape[at - 1];
      });""",
]


@pytest.mark.slow
def test_the_audit_finds_a_coin_that_a_device_keeps_for_all_its_values():
    """Two permanent answers cost 2ε. From one coin both are true or both are lies, which tells more."""
    protocol = dp.local.Choice(values=range(3), epsilon=1, size=1)
    setting = {"command": "devices", "neighbours": ([0, 1], [2, 0]), "claim": 2, "samples": 10_000}
    assert audit(protocol, [REUSED], **setting) == "violated"
    assert audit(protocol, [], **setting) == "not refuted"


DOUBLE = [
    TRUTHFUL,
    "const truthful = Number(words()) / 2 ** 64 < Number(protocol.threshold) / 2 ** 64;\n        let digit",
]


@pytest.mark.parametrize(
    "fault", [*[fault for _, fault in FAULTS.values()], DOUBLE], ids=[*FAULTS, "doubles"]
)
def test_the_vectors_find_a_fault_planted_in_the_script(fault):
    """A threshold in doubles is off by 2^-53, which no sample shows: words next to the threshold do."""
    with pytest.raises(subprocess.CalledProcessError) as caught:
        node("vectors", faults=[fault])
    assert "is not" in caught.value.stderr or "ended" in caught.value.stderr


def test_the_script_uses_webcrypto_and_no_floats_in_a_draw():
    script = (HERE.parents[1] / "src/discreet/asking/local/browser/discreet-local.js").read_text()
    for forbidden in ("Math.random", "Math.exp", "Math.log", "Date", "eval(", "import ", "require("):
        assert forbidden not in script
    assert "getRandomValues" in script
