"""Claims of privacy, attacked: audits of mechanisms and functions, and a checker of sensitivities."""

from discreet.auditing.audit import audit
from discreet.auditing.report import AuditReport

__all__ = ["AuditReport", "audit"]
