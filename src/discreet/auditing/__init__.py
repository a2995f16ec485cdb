"""Claims of privacy, attacked: audits of mechanisms, functions and questions, and a checker of
sensitivities."""

from discreet.auditing import neighbours
from discreet.auditing.audit import audit
from discreet.auditing.replay import ReplayReport, replay
from discreet.auditing.report import AuditReport
from discreet.auditing.sensitivity import SensitivityReport, check_sensitivity

__all__ = [
    "AuditReport",
    "ReplayReport",
    "SensitivityReport",
    "audit",
    "check_sensitivity",
    "neighbours",
    "replay",
]
