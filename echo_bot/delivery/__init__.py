"""Delivery: stored before it is sent, in order per chat, retried as asked, never silently dropped."""

from echo_bot.delivery.book import ChannelBook
from echo_bot.delivery.cards import CardDelivery
from echo_bot.delivery.live import LiveMessage
from echo_bot.delivery.moved import MovedChats
from echo_bot.delivery.outbox import Delivery
from echo_bot.delivery.pace import Pace
from echo_bot.delivery.receipt import Receipt
from echo_bot.delivery.status import StatusLines
from echo_bot.delivery.stream import ReplyStream

__all__ = [
    "CardDelivery",
    "ChannelBook",
    "Delivery",
    "LiveMessage",
    "MovedChats",
    "Pace",
    "Receipt",
    "ReplyStream",
    "StatusLines",
]
