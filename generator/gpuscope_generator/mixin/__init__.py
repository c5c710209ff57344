"""The monitoring mixin: boards and rules as Jsonnet, with a ``_config`` that takes effect where it is evaluated.

Boards and rules are built several times with other settings. What differs between the results follows from a setting,
and is written as an expression of ``_config``; all else is imported as it is.
"""

from gpuscope_generator.mixin.text import mixin_text

__all__ = ["mixin_text"]
