"""The boards in the demo: in a Grafana of this machine, or drawn by the preview where there is none."""

import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import requests
import yaml

from gpuscope.demo.children import Children, free_port
from gpuscope.errors import SourceError

__all__ = ["Boards", "find_grafana", "provision", "start_boards"]

_TIMEOUT_S = 10.0
_MAKE_S = 120.0
_SOURCE = "gpuscope-demo"
_HOMES = ("/usr/share/grafana", "/usr/local/share/grafana")
_GENERATOR = "import sys; from gpuscope_generator.cli import main; sys.exit(main())"


@dataclass(frozen=True, slots=True)
class Boards:
    """Who shows them.

    Attributes:
        url: where.
        by: name of the program.
        listing: path that answers with a list of the boards.
    """

    url: str
    by: str
    listing: str

    def count(self) -> int:
        """How many boards it has; 0 while it does not answer."""
        session = requests.Session()
        session.trust_env = False
        try:
            answer = session.get(f"{self.url}{self.listing}", timeout=_TIMEOUT_S)
            found = answer.json() if answer.ok else []
        except (requests.RequestException, ValueError):
            return 0
        return len(found["boards"] if isinstance(found, dict) else found)


def start_boards(
    children: Children, folder: Path, prometheus: str, scrape_interval: str, tell: Callable[[str], None]
) -> Boards | None:
    """Starts a Grafana of this machine that has the boards, or the preview.

    Args:
        children: gets the program.
        folder: gets its files.
        prometheus: address of the Prometheus to ask, with the scheme.
        scrape_interval: of that Prometheus.
        tell: called with one line when neither can be.

    Returns:
        Where the boards are shown.
    """
    grafana = find_grafana()
    # Not only in a clone: a wheel has no files of boards, but the generator that makes them.
    if importlib.util.find_spec("gpuscope_generator") is None or importlib.util.find_spec("grafanalib") is None:
        tell("boards are not shown: pip install 'gpuscope[generator]'")
        return None
    address = f"127.0.0.1:{free_port()}"
    if grafana is not None:
        command, home = grafana
        boards = _write_boards(folder / "boards")
        environment = provision(folder / "grafana", boards, prometheus, scrape_interval, address)
        children.start("grafana", [*command, "--homepath", str(home)], {**os.environ, **environment})
        return Boards(f"http://{address}", "Grafana", "/api/search?type=dash-db&tag=gpuscope")
    if not _page_is_built():
        tell("boards are not shown: neither Grafana is here nor the page of the preview: make preview")
        return None
    arguments = ["preview", "--prometheus", prometheus, "--listen-address", address]
    arguments += ["--scrape-interval", scrape_interval]
    children.start("preview", [sys.executable, "-c", _GENERATOR, *arguments])
    return Boards(f"http://{address}", "Grafana's UI library, without a Grafana", "/api/boards")


def find_grafana() -> tuple[list[str], Path] | None:
    """The command that starts Grafana, and its home folder; None when either is not on this machine."""
    for name, more in (("grafana", ["server"]), ("grafana-server", [])):
        program = shutil.which(name)
        if program is None:
            continue
        beside = Path(program).resolve().parent.parent
        for home in (beside, *map(Path, _HOMES)):
            if (home / "conf/defaults.ini").is_file():
                return [program, *more], home
    return None


def provision(folder: Path, boards: Path, prometheus: str, scrape_interval: str, address: str) -> Mapping[str, str]:
    """Writes what a Grafana reads when it starts.

    Args:
        folder: gets the files, and what Grafana keeps.
        boards: folder with boards as JSON.
        prometheus: address of the Prometheus to ask.
        scrape_interval: of that Prometheus; ``$__rate_interval`` follows from it.
        address: ``host:port`` to listen on.

    Returns:
        The environment that makes a Grafana read them: it serves whoever is on this machine, who may look and change
        nothing, and asks no one else for anything.
    """
    source = {
        "name": "Prometheus of the demo", "type": "prometheus", "uid": _SOURCE, "access": "proxy", "url": prometheus,
        "isDefault": True, "editable": False, "jsonData": {"timeInterval": scrape_interval, "httpMethod": "POST"},
    }  # fmt: skip
    provider = {
        "name": "gpuscope", "type": "file", "folder": "GPU", "allowUiUpdates": False, "disableDeletion": True,
        "options": {"path": str(boards)},
    }  # fmt: skip
    for kind, content in (("datasources", [source]), ("dashboards", [provider])):
        file = folder / "provisioning" / kind / "gpuscope.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        key = "providers" if kind == "dashboards" else kind
        file.write_text(yaml.safe_dump({"apiVersion": 1, key: content}, sort_keys=False), encoding="utf-8")
    host, _, port = address.rpartition(":")
    return {
        "GF_SERVER_HTTP_ADDR": host,
        "GF_SERVER_HTTP_PORT": port,
        "GF_PATHS_DATA": str(folder / "data"),
        "GF_PATHS_LOGS": str(folder / "logs"),
        "GF_PATHS_PLUGINS": str(folder / "plugins"),
        "GF_PATHS_PROVISIONING": str(folder / "provisioning"),
        "GF_LOG_MODE": "console",
        "GF_AUTH_ANONYMOUS_ENABLED": "true",
        "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
        "GF_AUTH_DISABLE_LOGIN_FORM": "true",
        "GF_SECURITY_ADMIN_PASSWORD": secrets.token_urlsafe(24),
        "GF_ANALYTICS_REPORTING_ENABLED": "false",
        "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
        "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
        "GF_NEWS_NEWS_FEED_ENABLED": "false",
        "GF_SNAPSHOTS_EXTERNAL_ENABLED": "false",
        "GF_PLUGINS_PREINSTALL_DISABLED": "true",
    }


def _page_is_built() -> bool:
    found = importlib.util.find_spec("gpuscope_generator")
    return found is not None and found.origin is not None and (
        (Path(found.origin).parent / "preview/static/preview.js").is_file()
    )  # fmt: skip


def _write_boards(folder: Path) -> Path:
    command = [sys.executable, "-c", _GENERATOR, "dashboards", "--out", str(folder)]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_MAKE_S)  # noqa: S603
    if made.returncode != 0:
        raise SourceError(f"the boards for Grafana could not be written: {made.stderr.strip()}")
    return folder / "dashboards"
