"""Endpoints that only look: tools, and for admin tokens status and audit."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query

from echo_bot.audit import Report
from echo_bot.gateway.api.endpoints import router
from echo_bot.gateway.api.models import AuditReport, AuditView, HeadView, ProblemView, ToolView
from echo_bot.gateway.api.parts import ApiParts
from echo_bot.gateway.api.views import audit_view


def tools(parts: ApiParts) -> APIRouter:
    routes = router("tools")

    @routes.get("/tools")
    async def list_tools() -> list[ToolView]:
        """Every tool, whether it is available, and what takes it away."""
        return [ToolView(**row) for row in parts.tools()]

    return routes


def looking(parts: ApiParts) -> APIRouter:
    routes = router("operation", admin=True)

    @routes.get("/status")
    async def show_status() -> dict[str, Any]:
        """What `echo-bot status --json` prints."""
        return dict(await asyncio.to_thread(parts.status))

    @routes.get("/audit")
    async def tail_audit(limit: Annotated[int, Query(ge=1, le=10_000)] = 100) -> list[AuditView]:
        """The newest rows, oldest first."""
        return [audit_view(row) for row in await parts.store.audit.tail(limit)]

    @routes.get("/audit/verify")
    async def verify_audit() -> AuditReport:
        """Check every chain for rows that were changed, moved or removed."""
        return _report(await parts.verify_audit())

    return routes


def _report(report: Report) -> AuditReport:
    newest = report.newest
    return AuditReport(
        sound=report.is_sound,
        rows=report.rows,
        chains=report.chains,
        problems=[
            ProblemView(writer=p.writer, row=p.seq, sentence=p.sentence, breaks=p.breaks)
            for p in report.problems
        ],
        newest=HeadView(writer=newest.writer, row=newest.seq, mac=newest.mac) if newest else None,
    )
