"""Adapters: each converts between one platform's SDK and the port in `echo_bot.channel`, and decides nothing."""
