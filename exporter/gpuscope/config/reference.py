"""The table of settings in ``docs/configuration.md``."""

from collections.abc import Sequence

from gpuscope.config.option import Option, Type
from gpuscope.config.settings import OPTIONS
from gpuscope.document import replace_part

__all__ = ["BEGIN", "END", "reference", "update"]

BEGIN = "<!-- settings: made by `gpuscope settings --update`, do not edit -->"
END = "<!-- /settings -->"


def reference(options: Sequence[Option] = OPTIONS) -> str:
    """A Markdown table: flag, environment variable, default, whether SIGHUP puts it in force, meaning."""
    rows = ["| Flag and key | Environment variable | Default | Reload | Meaning |", "|---|---|---|---|---|"]
    rows += [
        f"| {_flag(option)} | `{option.variable}` | {_default(option)} | {'yes' if option.reload else ''} "
        f"| {option.help.replace('|', chr(92) + '|')} |"
        for option in options
    ]
    return "\n".join(rows) + "\n"


def update(document: str, options: Sequence[Option] = OPTIONS) -> str:
    """The document with a fresh table of these settings between its markers.

    Raises:
        ValueError: the document has no markers.
    """
    return replace_part(document, BEGIN, END, reference(options))


def _flag(option: Option) -> str:
    return f"`{option.flag}`, `--no-{option.key}`" if option.type is Type.SWITCH else f"`{option.flag}`"


def _default(option: Option) -> str:
    written = option.format(option.default)
    return "`{}`".format(written.replace("|", chr(92) + "|")) if written else ""
