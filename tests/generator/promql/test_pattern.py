"""Which regular expressions are taken: those that Prometheus takes, asked of promtool."""

import subprocess
from pathlib import Path

import pytest

from gpuscope_generator.promql.pattern import check_pattern

TAKEN = (
    "", "a|b", "(?i)gpu", "(?i:gpu)-[0-9]+", "(?P<name>a)", r"\d+\.\w*", r"[\]a-z]+", "[]a]", "[[:alpha:]]+", "a{2,3}",
    r"\pN", r"\Qa+b\E", "é😀", "a{1000}", r"a\+\+", "[(?=]", "(?s-i).*", "x*?",
)  # fmt: skip
REFUSED = {
    "(": "missing",
    "[a": "unterminated",
    "*a": "nothing to repeat",
    "a(?=b)": "looks ahead",
    "a(?!b)": "looks ahead",
    "(?<=a)b": "looks ahead or behind",
    "(?<!a)b": "looks ahead or behind",
    "(?>a)b": "atomic",
    r"(a)\1": "refers back",
    "(?P<n>a)(?P=n)": "refers back",
    "(a)?(?(1)b|c)": "condition",
    "(?#x)a": "comment",
    "a++": "possessive",
    "a{2}+": "possessive",
    r"a\Z": r"no escape \\Z",
    r"\u00e9": r"no escape \\u",
    "a{1001}": "more than 1000 times",
    "a{5,9999999999999999999}": "more than 1000 times",
}


def refused_by_prometheus(folder: Path, patterns: tuple[str, ...]) -> set[str]:
    """Those of some patterns that promtool takes in no rule."""
    found = set()
    for number, pattern in enumerate(patterns):
        file = folder / f"{number}.yaml"
        text = pattern.replace("\\", "\\\\").replace('"', '\\"')
        file.write_text(
            'groups:\n- name: g\n  rules:\n  - record: a:b\n    expr: |\n      x{l=~"' + text + '"}\n', encoding="utf-8"
        )
        done = subprocess.run(["promtool", "check", "rules", file.name], cwd=folder, capture_output=True, timeout=60)
        if done.returncode:
            found.add(pattern)
    return found


def test_what_prometheus_takes_is_taken(tmp_path: Path) -> None:
    for pattern in TAKEN:
        check_pattern(pattern)
    assert refused_by_prometheus(tmp_path, TAKEN) == set()


@pytest.mark.parametrize(("pattern", "reason"), REFUSED.items())
def test_what_prometheus_refuses_is_refused_with_the_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_pattern(pattern)


def test_what_is_refused_is_refused_by_prometheus_too(tmp_path: Path) -> None:
    assert refused_by_prometheus(tmp_path, tuple(REFUSED)) == set(REFUSED)
