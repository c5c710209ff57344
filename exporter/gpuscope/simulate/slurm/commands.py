"""The simulated Slurm's commands as programs in a folder, and the thread that keeps their answers up to date."""

import logging
import threading
import time
from pathlib import Path

from gpuscope.simulate.slurm.answers import Forms, accounting, partitions
from gpuscope.simulate.slurm.cluster import Cluster, Story
from gpuscope.simulate.slurm.story import CYCLE_S

__all__ = ["SimulatedSlurm", "SlurmPrograms"]

log = logging.getLogger(__name__)

_HEAD = """#!/bin/sh
# A command of a simulated Slurm. It knows what gpuscope asks; the answers beside it are made anew every second.
here=${0%/*}
refuse() { echo "${0##*/}: unrecognized option" >&2; exit 1; }
"""
_PROGRAMS = {
    "scontrol": """case "$*" in
    --version) cat "$here/version" ;;
    "--all --oneliner show partition") cat "$here/partitions" ;;
    *) refuse ;;
esac
""",
    "squeue": 'case "$*" in --version) cat "$here/version" ;; "--all --json") cat "$here/jobs" ;; *) refuse ;; esac\n',
    "sinfo": 'case "$*" in --version) cat "$here/version" ;; "--all --json") cat "$here/nodes" ;; *) refuse ;; esac\n',
    # As the real one: asked fields in the order asked for, and only what had not ended before the time asked for.
    "sacct": r"""mark='|' format='' since=''
for argument in "$@"; do
    case "$argument" in
        --version) exec cat "$here/version" ;;
        --helpformat) exec cat "$here/fields" ;;
        --delimiter=*) mark=${argument#*=} ;;
        --format=*) format=${argument#*=} ;;
        --starttime=*) since=${argument#*=} ;;
        --allusers | --duplicates | --allocations | --noheader | --parsable) ;;
        *) refuse ;;
    esac
done
exec awk -F'|' -v mark="$mark" -v format="$format" -v since="$since" '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; n = split(format, want, ","); next }
    $column["End"] == "Unknown" || $column["End"] >= since {
        line = ""
        for (i = 1; i <= n; i++) line = line (want[i] in column ? $column[want[i]] : "") mark
        print line
    }
' "$here/accounting"
""",
}


class SlurmPrograms:
    """The commands to ask a cluster.

    Args:
        folder: gets the programs ``scontrol``, ``squeue``, ``sinfo``, ``sacct`` and what they answer; made if missing.
        cluster: what they tell of.
        now: unix time at which it begins; ``None`` is now.

    Raises:
        OSError: the folder cannot be written.
    """

    def __init__(self, folder: Path, cluster: Story, now: float | None = None) -> None:
        self._folder = folder
        self._forms = Forms()
        self._cluster = cluster
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="simulated-slurm", daemon=True)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in _PROGRAMS.items():
            program = folder / name
            program.write_text(_HEAD + text, encoding="utf-8")
            program.chmod(0o755)
        self._write("version", f"{self._forms.release}\n")
        self._write("fields", "\n".join(self._forms.fields) + "\n")
        self.go_on(time.time() if now is None else now)

    def go_on(self, now: float) -> None:
        """Lets time pass until a moment, in unix time, and writes down what the commands answer then."""
        self._cluster.go_on(int(now))
        self._write("jobs", self._forms.jobs(self._cluster))
        self._write("partitions", partitions(self._cluster))
        self._write("nodes", self._forms.nodes(self._cluster))
        self._write("accounting", accounting(self._cluster))

    def start(self) -> None:
        """Lets time pass with the machine's clock."""
        self._thread.start()

    def stop(self) -> None:
        """Stops the clock; what the folder holds stays."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def _run(self) -> None:
        while not self._stopped.wait(1.0):
            try:
                self.go_on(time.time())
            except OSError as error:
                log.warning("the simulated Slurm cannot write its answers: %s", error)

    def _write(self, name: str, text: str) -> None:
        fresh = self._folder / f".{name}"
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(self._folder / name)


class SimulatedSlurm(SlurmPrograms):
    """A cluster with a past of one turn of its story, and the commands to ask it.

    Args:
        folder: gets the programs and what they answer; made if missing.
        now: unix time at which it begins; ``None`` is now.
    """

    def __init__(self, folder: Path, now: float | None = None) -> None:
        moment = int(time.time() if now is None else now)
        self.cluster = Cluster(moment - CYCLE_S)
        super().__init__(folder, self.cluster, moment)
