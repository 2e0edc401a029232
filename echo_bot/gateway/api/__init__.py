"""The HTTP API under /api/v1: messages, chats, approvals, grants, audit, status and tools."""
