"""Claims of privacy, attacked: audits of mechanisms, functions and questions, and a checker of
sensitivities."""

from discreet.auditing import neighbours
from discreet.auditing.audit import audit
from discreet.auditing.question import QuestionReport, audit_question
from discreet.auditing.replay import ReplayReport, replay
from discreet.auditing.report import AuditReport
from discreet.auditing.sensitivity import SensitivityReport, check_sensitivity

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
