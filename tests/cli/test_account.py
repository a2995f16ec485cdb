import json

import pytest

from discreet.apps.cli import main
from discreet.kernel.losses import laplace, read_loss


def run(*words):
    with pytest.raises(SystemExit) as end:
        main(list(words))
    return end.value.code or 0


PLAN = "100 * laplace(scale=10) + 1000 * sampled(gaussian(sigma=1), rate=0.01)"


def test_every_notion_is_answered_beside_the_theorems(capsys):
    assert run("account", PLAN, "--delta", "1e-6", "--epsilon", "3") == 0
    out = capsys.readouterr().out
    for word in ("epsilon at delta 1e-06", "basic", "advanced", "rho", "Gaussian DP", "Rényi", "delta at"):
        assert word in out


def test_json_holds_the_interval(capsys):
    assert run("account", "100 * laplace(scale=10)", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (
        answer["epsilon"]["lower"]
        <= answer["epsilon"]["upper"]
        == (100 * laplace(scale=10)).epsilon(delta=1e-6)
    )
    assert answer["epsilon"]["upper"] < answer["advanced"] < answer["basic"]
    assert answer["mu"] == (100 * laplace(scale=10)).mu


NO_LOSS = """3
laplace
laplace(10)
laplace(scale=0)
(lambda: 1)()
__import__('os')
2.5 * pure(epsilon=1)
laplace(scale=1)(scale=1)
pure(epsilon=1) ** 2
[1]
pure(epsilon='1')
pure(**1)
a.b(c=1)"""


@pytest.mark.parametrize("text", ["", *NO_LOSS.splitlines()])
def test_what_is_not_a_loss_is_refused_and_never_run(text, capsys):
    assert run("account", text, "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "invalid_parameter"


def test_what_a_loss_prints_is_read_back():
    loss = read_loss(PLAN + " + group(channel([[3/4, 1/4], [1/2, 1/2]]), size=2) + zcdp(rho=1/3)")
    assert "1/3" in repr(loss)
    assert read_loss(PLAN) == read_loss(repr(read_loss(PLAN)))


def test_a_plot_is_drawn(tmp_path):
    assert run("account", "5 * laplace(scale=10)", "--plot", str(tmp_path / "plan.html")) == 0
    assert "<html" in (tmp_path / "plan.html").read_text().lower()


def test_a_training_run_is_priced_and_its_noise_found(capsys):
    text = "examples=60000, batch=256, epochs=5, epsilon=1"
    assert run("account", "--training", text, "--delta", "1e-5", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert 0.99 < found["epsilon"]["upper"] <= 1
    assert found["steps"] == 1172
    assert f"noise {found['sigma']:.6g}" in found["training"]


@pytest.mark.parametrize(
    "text", ["", "examples=1", "examples=10, batch=x", "lambda=1", "batch=1, epochs=1, sigma=1"]
)
def test_what_is_no_training_run_is_refused(text, capsys):
    assert run("account", "--training", text, "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "invalid_parameter"


def test_a_misspelt_law_is_told_the_right_one_and_tables_have_one_style(capsys):
    assert run("account", "laplac(scale=10)") == 2
    assert "Did you mean laplace?" in capsys.readouterr().err
    assert run("account", "laplace(scale=10)") == 0
    out = capsys.readouterr().out
    assert "─" in out
    assert not set("┏┃│┡") & set(out)
