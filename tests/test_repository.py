"""House rules: what documents say is there, and what must be nowhere."""

import re
import subprocess
import tomllib
from pathlib import Path

import click
import pytest

from gpuscope import __version__
from gpuscope.catalogue import SUBJECTS
from gpuscope.cli import root
from gpuscope.config import OPTIONS
from gpuscope.simulate.activity import KINDS
from gpuscope.simulate.model import MODELS
from gpuscope.simulate.scenario import EVENTS, scenarios

ROOT = Path(__file__).parents[1]
MAX_LINES = 400
SLASH = "/"
FOREIGN = (
    # Folders of one machine, and hosts of package registries: neither helps a reader elsewhere.
    *(f"{SLASH}{folder}{SLASH}" for folder in ("root", "work", "home")),
    *(
        f"{host}.{end}"
        for host, end in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("deb.debian", "org"))
    ),
)

GKE = f"{SLASH}home{SLASH}kubernetes{SLASH}"
"""Where every node of GKE has its driver."""


def _tracked(*endings: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *(f"*{ending}" for ending in endings)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.is_file()]


def _pages() -> list[Path]:
    return _tracked(".md")


def _commands(command: click.Command, name: str) -> dict[str, click.Command]:
    found = {name: command}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            inner = command.get_command(context, child)
            assert inner is not None
            found |= _commands(inner, f"{name} {child}")
    return found


COMMANDS = _commands(root, "gpuscope")
LEAVES = {name: command for name, command in COMMANDS.items() if not isinstance(command, click.Group)}


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$", changelog, re.MULTILINE)
    assert project["version"] == __version__ == released[0]


def test_every_release_says_what_changed_in_metrics() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.split(r"^## \[\d", changelog, flags=re.MULTILINE)[1:]
    assert releases
    assert all("### Metrics changed" in release for release in releases)


def test_no_file_names_one_machine() -> None:
    found = []
    for path in _tracked():
        text = path.read_bytes().decode("utf-8", errors="replace").replace(GKE, "")
        found += [f"{path.relative_to(ROOT)}: {word}" for word in FOREIGN if word in text]
    assert found == []


def test_no_file_of_code_is_too_long() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in _tracked(".py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }
    assert long == {}


def _anchor(title: str) -> str:
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title.strip()).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def _prose(path: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def _anchors(path: Path) -> set[str]:
    text = _prose(path)
    return {_anchor(title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)} | set(
        re.findall(r'<a id="([^"]+)"', text)
    )


@pytest.mark.parametrize("page", _pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    tracked = set(_tracked())
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", _prose(page)) + re.findall(r'(?:src|href)="([^"]+)"', _prose(page)):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        place = (page.parent / name).resolve() if name else page
        known = place in tracked or any(place in path.parents for path in tracked)
        if not known or (anchor and place.suffix == ".md" and anchor not in _anchors(place)):
            broken.append(target)
    assert broken == []


def _shown(text: str) -> list[str]:
    """Command lines of a page: behind a prompt, or in code spans."""
    prompts = re.findall(r"^[$#] (.+)$", text, re.MULTILINE)
    return prompts + re.findall(r"`([^`\n]+)`", text)


def test_documented_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, re.MULTILINE))
    documented = {
        word
        for page in _pages()
        for line in _shown(page.read_text(encoding="utf-8"))
        for call in re.findall(r"(?:^|&& )make ((?:[a-z0-9-]+ ?)+)", line)
        for word in call.split()
    }
    assert documented
    assert documented <= targets


def test_documented_commands_and_flags_exist() -> None:
    unknown = []
    for page in _pages():
        for line in _shown(page.read_text(encoding="utf-8")):
            for call in re.findall(r"(?:^|&& |/bin/)gpuscope ([^|&>;#]+)", line):
                unknown += _unknown(call.split())
    assert unknown == []


def test_flags_named_in_prose_exist() -> None:
    known = {option.key for option in OPTIONS}
    families = {key.partition(".")[0] for key in known if "." in key} | {"sampling"}
    wrong = [
        f"{page.name}: --{flag}"
        for page in _pages()
        for flag in re.findall(r"`--(?:no-)?([a-z-]+\.[a-z0-9.-]+?)[`= ]", page.read_text(encoding="utf-8"))
        if flag.partition(".")[0] in families and flag not in known
    ]
    assert wrong == []


def _unknown(words: list[str]) -> list[str]:
    command: click.Command = root
    for position, word in enumerate(words):
        if word == "--":
            break
        if word.startswith("-"):
            flag = word.partition("=")[0]
            flags = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
            if flag not in flags | {"--help", "-h"}:
                return [f"{' '.join(words[:position])}: {flag}"]
        elif isinstance(command, click.Group):
            if not word.isalpha() or word.isupper():
                break
            inner = command.get_command(click.Context(command), word) if word in command.list_commands(None) else None
            if inner is None:
                return [f"{' '.join(words[: position + 1])}"]
            command = inner
    return []


@pytest.mark.parametrize("name", sorted(LEAVES))
def test_every_command_has_help_and_stands_in_the_page_of_commands(name: str) -> None:
    assert LEAVES[name].help
    assert f"`{name}" in (ROOT / "docs/commands.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(LEAVES))
def test_every_option_has_help(name: str) -> None:
    bare = [one.name for one in LEAVES[name].params if isinstance(one, click.Option) and not one.help]
    assert bare == []


def test_every_scenario_and_word_of_a_scenario_is_documented() -> None:
    text = (ROOT / "docs/simulate.md").read_text(encoding="utf-8")
    words = {info.name for info in scenarios()} | set(EVENTS) | set(MODELS) | set(KINDS)
    assert {word for word in words if f"`{word}`" not in text} == set()
    events = text.partition("| `do` |")[2]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*)\|", events, re.MULTILINE))
    assert rows.keys() == EVENTS.keys()
    assert {kind: set(re.findall(r"`(\w+)`", row)) for kind, row in rows.items()} == {
        kind: set(arguments) for kind, arguments in EVENTS.items()
    }


def test_every_subject_has_a_section_in_the_reference() -> None:
    anchors = _anchors(ROOT / "docs/metrics.md")
    assert set(SUBJECTS) - anchors == set()


def test_the_example_of_a_scenario_can_be_loaded(tmp_path: Path) -> None:
    from gpuscope.simulate.scenario import load

    text = (ROOT / "docs/simulate.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml\n(title.*?)^```$", text, re.MULTILINE | re.DOTALL)
    file = tmp_path / "mine.yaml"
    file.write_text(example, encoding="utf-8")
    assert len(load(str(file)).gpus) == 7


def test_ci_runs_what_the_readme_says() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "make lint types test" in script
    assert "make lint types test" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make lint types test" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)", workflow)
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one) for one in used)
    assert "contents: read" in workflow
