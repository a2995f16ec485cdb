"""Claims of privacy, attacked: audits of mechanisms and functions, and a checker of sensitivities."""

from discreet.auditing import neighbours
from discreet.auditing.audit import audit
from discreet.auditing.report import AuditReport
from discreet.auditing.sensitivity import SensitivityReport, check_sensitivity

__all__ = ["AuditReport", "SensitivityReport", "audit", "check_sensitivity", "neighbours"]
