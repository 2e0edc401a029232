"""What was decided and done, in rows that cannot be changed unnoticed."""

from echo_bot.audit.check import Problem, Report, check_stored, verify
from echo_bot.audit.writer import Audit

__all__ = ["Audit", "Problem", "Report", "check_stored", "verify"]
