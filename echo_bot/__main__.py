"""`python -m echo_bot`."""

from echo_bot.cli import main

if __name__ == "__main__":
    main()
