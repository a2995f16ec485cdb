"""Claims of privacy, attacked: audits of mechanisms, functions and questions, and a checker of
sensitivities."""

from discreet.apps.auditing import neighbours
from discreet.apps.auditing.audit import audit
from discreet.apps.auditing.question import QuestionReport, audit_question
from discreet.apps.auditing.replay import ReplayReport, replay
from discreet.apps.auditing.report import AuditReport
from discreet.apps.auditing.sensitivity import SensitivityReport, check_sensitivity

__all__ = [
    "AuditReport",
    "QuestionReport",
    "ReplayReport",
    "SensitivityReport",
    "audit",
    "audit_question",
    "check_sensitivity",
    "neighbours",
    "replay",
]


def __dir__() -> list[str]:
    return list(__all__)
