"""Workers: turns that a turn starts for tasks of their own, with its trust and tools and no more."""

from echo_bot.agent.workers.places import Places
from echo_bot.agent.workers.progress import Progress
from echo_bot.agent.workers.starting import Employed, Workers

__all__ = ["Employed", "Places", "Progress", "Workers"]
