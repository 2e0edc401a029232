"""The knowledge engine: which files are documents, their passages, and one run over all of them."""

from echo_bot.tools.knowledge.indexing import Documents, IndexRun, RunReport, Stopped

__all__ = ["Documents", "IndexRun", "RunReport", "Stopped"]
