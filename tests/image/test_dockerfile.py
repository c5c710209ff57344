"""The Dockerfile, read; ``make test-image`` builds it."""

import re
from pathlib import Path

from gpuscope import __version__

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
RUNTIME = TEXT[TEXT.rindex("\nFROM ") :]


def test_version_is_that_of_the_package() -> None:
    assert f"ARG VERSION={__version__}\n" in TEXT


def test_image_that_runs_needs_no_shell() -> None:
    # Nothing is executed on the base, so that a distroless one, or one of another architecture, will do.
    assert not re.search(r"^(RUN|SHELL)\b", RUNTIME, re.MULTILINE)
    assert re.search(r'^ENTRYPOINT \["/', RUNTIME, re.MULTILINE)
    assert re.search(r'^CMD \["', RUNTIME, re.MULTILINE)


def test_user_is_a_number_that_is_not_root() -> None:
    # kubelet refuses runAsNonRoot for a user that is only a name.
    assert re.findall(r"^USER (.*)$", RUNTIME, re.MULTILINE) == ["65532:65532"]


def test_what_is_copied_is_let_through_and_there() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", TEXT, re.MULTILINE)
    sources = [source.rstrip("/") for line in copied for source in line.split()]
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert sources
    assert ignored[1] == "*"
    assert {line[1:] for line in ignored if line.startswith("!")} == {*sources}
    assert all((ROOT / source).exists() for source in sources)


def test_no_base_is_taken_without_a_tag() -> None:
    assert re.findall(r"^ARG BASE=(.*)$", TEXT, re.MULTILINE) == ["docker.io/library/python:3.13-slim-trixie"]
    assert re.findall(r"^FROM (\S+)", TEXT, re.MULTILINE) == ["${BUILDER}", "${BASE}"]


def test_wheels_of_a_clone_are_not_committed() -> None:
    assert "/wheels/*.whl" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
