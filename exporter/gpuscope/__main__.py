"""``python -m gpuscope``."""

from gpuscope.cli import main

main()
