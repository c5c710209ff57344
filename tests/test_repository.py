"""House rules that no other tool checks."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import gpuscope

ROOT = Path(__file__).parent.parent
TRACKED = [
    ROOT / line
    for line in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    if line and (ROOT / line).is_file()
]
PAGES = [path for path in TRACKED if path.suffix == ".md"]
SOURCES = [path for path in TRACKED if path.suffix == ".py" and "tests" not in path.parts]


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    changelog = re.search(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert changelog is not None
    assert {project, gpuscope.__version__, changelog[1]} == {project}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.name}: {target}"
        if anchor and linked.suffix == ".md":
            assert anchor in _anchors(linked), f"{page.name}: {target}"


def _anchors(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', text))


def test_every_make_target_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        for line in re.findall(r"(?:^\$ |`)make ([a-z -]+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert set(line.split()) <= targets, f"{page.name}: make {line}"


def test_no_file_is_longer_than_a_reader_can_take() -> None:
    long = {str(path): count for path in SOURCES if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400}
    assert long == {}


def test_nothing_names_a_machine_or_a_registry() -> None:
    # Put together here, so that this file does not find itself.
    words = [
        "/wo" + "rk/",
        "/ro" + "ot/",
        "pypi" + ".org",
        "files.python" + "hosted",
        "registry.npm" + "js",
        "deb.deb" + "ian.org",
    ]
    found = {
        f"{path.relative_to(ROOT)}: {word}"
        for path in TRACKED
        if path.suffix in {".py", ".md", ".toml", ".yaml", ".yml", ".txt", ".svg", ".csv", ""}
        for word in words
        if word in path.read_text(encoding="utf-8", errors="ignore")
    }
    assert found == set()


def test_ci_runs_what_the_readme_says() -> None:
    assert "make lint types test" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make lint types test" in (ROOT / ".ci/run").read_text(encoding="utf-8")
