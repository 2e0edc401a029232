"""Executors, the file door, and every built-in tool, made from the configuration."""

from __future__ import annotations

import mimetypes
import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from echo_bot.app.discovery import own_tools
from echo_bot.approval.broker import Broker
from echo_bot.approval.gather import Surroundings
from echo_bot.config.model import Config
from echo_bot.config.policy import data_dir
from echo_bot.delivery import Delivery
from echo_bot.events import OutboundFile
from echo_bot.execution.background import BackgroundProcesses
from echo_bot.execution.backends import Executors
from echo_bot.execution.environment import clean_environment
from echo_bot.execution.layout import default_layout
from echo_bot.execution.local import LocalExecutor
from echo_bot.execution.protocol import Limits
from echo_bot.execution.sandbox import SandboxExecutor
from echo_bot.files import FileDoor, FileRefusal, content_identity, real_rules
from echo_bot.policy.call import BoundFile, Executor
from echo_bot.policy.guards.paths import PathRules
from echo_bot.policy.settings import PolicySettings
from echo_bot.storage.protocol import Store
from echo_bot.tools.base import Tool, ToolExecutionContext
from echo_bot.tools.builtin.clarify import ClarifyTool
from echo_bot.tools.builtin.exec import ExecTool
from echo_bot.tools.builtin.execute_code import ExecuteCodeTool
from echo_bot.tools.builtin.messaging import MessageTool, NotifyTool
from echo_bot.tools.builtin.process import ProcessTool
from echo_bot.tools.builtin.reading import ListDirTool, ReadFileTool
from echo_bot.tools.builtin.running import Placed, RunSettings
from echo_bot.tools.builtin.todo import TodoTool
from echo_bot.tools.builtin.workspace import Workspace
from echo_bot.tools.registry import Registry
from echo_bot.tools.sites import CallSite, CallSites
