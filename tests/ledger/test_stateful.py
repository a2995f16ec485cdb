"""A state machine over charge, answer, reserve, crash, reopen, retry, copy and restore: no overspend."""

import os
import tempfile
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from discreet.errors import BudgetExceeded, EngineFailure, LedgerConflict, Rationed
from discreet.kernel.ledger import failing, verification
from ledger import services
from ledger.services import BUDGET, FAULTS, Honest, HonestOnServer, Naive, Question, World

# Few enough to collide; the smallest is lost in any sum of floats.
PRICES = [
    (Fraction(1, 10), Fraction(0)),
    (Fraction(2, 5), Fraction(6, 10**7)),
    (Fraction(1, 10**17), Fraction(0)),
    (Fraction(1), Fraction(0)),
    (Fraction(1, 5), Fraction(1, 10**6)),
]


class LedgerMachine(RuleBasedStateMachine):
    service_class = Honest

    def __init__(self):
        super().__init__()
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.TemporaryDirectory(dir=place)
        self.service = self.service_class(Path(self.folder.name))
        self.world, self.clients, self.asked = World(), [], []

    def teardown(self):
        self.service.close()
        self.folder.cleanup()

    def proceed(self, client):
        """One step of one client; it ends by finishing, or by a refusal."""
        try:
            next(client[1])
        except (StopIteration, BudgetExceeded, LedgerConflict, Rationed, EngineFailure):
            self.clients.remove(client)

    def begin(self, question, process):
        client = (process, self.service.ask(self.world, question, process))
        self.clients.append(client)
        self.proceed(client)

    @rule(
        text=st.sampled_from("AB"),
        price=st.sampled_from(PRICES),
        analyst=st.sampled_from(["alice", "bob"]),
        process=st.integers(0, 1),
    )
    def ask(self, text, price, analyst, process):
        question = Question(text, *price, key=f"key {len(self.asked)}", analyst=analyst)
        self.asked.append(question)
        self.begin(question, process)

    @rule(data=st.data(), process=st.integers(0, 1))
    def retry(self, data, process):
        if self.asked:
            self.begin(data.draw(st.sampled_from(self.asked)), process)

    @rule(data=st.data())
    def step(self, data):
        if self.clients:
            self.proceed(data.draw(st.sampled_from(self.clients)))

    @rule(process=st.integers(0, 1))
    def crash_and_reopen(self, process):
        self.clients = [client for client in self.clients if client[0] != process]
        self.service.crash(process)

    @rule()
    def step_all(self):
        for client in list(self.clients):
            self.proceed(client)

    @rule(share=st.sampled_from([Fraction(1, 10), Fraction(3, 10), Fraction(1)]))
    def reserve(self, share):
        with suppress(BudgetExceeded):
            self.service.reserve(self.world, "alice", share)

    @rule(happens=st.sampled_from(["copy", "restore", "data fails", "data serves"]))
    def befall(self, happens):
        if happens == "copy":
            self.service.copy()
        elif happens == "restore":
            self.clients = []
            self.service.restore()
        else:
            self.world.data_errors = happens == "data fails"

    @rule()
    def release_failures(self):
        self.service.release_failures()

    @invariant()
    def the_ration_holds(self):
        for analyst in ("alice", "bob"):
            assert self.service.failures(analyst) <= services.RATION.failures

    @invariant()
    def the_budget_holds(self):
        assert sum(question.epsilon for question in self.world.draws) <= BUDGET.epsilon
        assert sum(question.delta for question in self.world.draws) <= BUDGET.delta

    @invariant()
    def what_is_reserved_is_left_to_its_holder(self):
        world = self.world
        assert world.charged() + sum(world.shares.values()) <= BUDGET.epsilon
        for holder, share in world.shares.items():
            assert self.service.left(holder) == share - world.charged(holder)

    @invariant()
    def every_draw_was_charged_before(self):
        epsilon, delta = self.service.spent()
        assert sum(question.epsilon for question in self.world.draws) <= epsilon
        assert sum(question.delta for question in self.world.draws) <= delta

    @invariant()
    def what_left_is_one_answer_and_it_is_stored(self):
        for question, answers in self.world.released.items():
            assert len(answers) == 1
            assert self.service.stored(question) is not None


def run(service, examples):
    machine = type(service.__name__, (LedgerMachine,), {"service_class": service})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            derandomize=not issubclass(service, Honest),  # a planted fault is found the same way every time
            phases=tuple(Phase) if issubclass(service, Honest) else [Phase.generate],
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
def test_no_interleaving_overspends():
    run(Honest, 120)


@pytest.fixture
def on_server(postgres_server):
    return type("OnServer", (HonestOnServer,), {"server": postgres_server})


@pytest.mark.slow
def test_no_interleaving_overspends_on_a_server(on_server):
    run(on_server, 12)


@pytest.mark.soak
def test_no_interleaving_overspends_in_many_runs():
    run(Honest, 2000)


@pytest.mark.soak
def test_no_interleaving_overspends_on_a_server_in_many_runs(on_server):
    run(on_server, 500)


def test_the_machine_catches_a_ration_that_is_not_kept(monkeypatch):
    monkeypatch.setattr(services, "RATION", replace(services.RATION, failures=1))
    monkeypatch.setattr(failing, "left", lambda failures, allowed, analyst: 3)
    monkeypatch.setattr(verification, "left", lambda failures, allowed, analyst: 3)
    with pytest.raises(AssertionError):
        run(Honest, 400)


@pytest.mark.slow
def test_the_plain_model_that_the_faults_are_planted_in_passes():
    run(Naive, 200)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_the_machine_catches(fault):
    with pytest.raises(AssertionError):
        run(fault, 400)
