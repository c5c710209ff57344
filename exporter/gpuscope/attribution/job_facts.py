"""What a prolog knew of a job: who runs it, and Slurm's other name of it.

Output of the prolog, ``jobs/42``::

    user=alice
    uid=1000
    account=vision
    partition=h100
    sluid=sEKNKTV3WPV500
"""

import re
from dataclasses import dataclass
from pathlib import Path

from gpuscope.attribution.drop_folder import Unusable, list_names, read_text
from gpuscope.attribution.problems import Problem, reason_of

__all__ = ["JobFacts", "read_job_facts"]

_JOB_ID = re.compile(r"[0-9]{1,10}")
_FACT = re.compile(r"([a-z_]{1,32})=([ -~]{0,256})")


@dataclass(frozen=True, slots=True)
class JobFacts:
    """Facts of one job; empty or ``None`` where nobody said."""

    user: str = ""
    uid: int | None = None
    account: str = ""
    partition: str = ""
    sluid: str = ""


def read_job_facts(folder: Path, problems: list[Problem]) -> dict[str, JobFacts]:
    """Job id -> facts, from a file per job; lines that are not understood are skipped.

    Args:
        folder: the files; a missing folder is no problem.
        problems: takes what could not be used.
    """
    facts: dict[str, JobFacts] = {}
    try:
        names = list_names(folder, problems)
    except FileNotFoundError:
        return facts
    except OSError as error:
        problems.append(Problem(str(folder), reason_of(error)))
        return facts
    for name in names:
        if not _JOB_ID.fullmatch(name):
            problems.append(Problem(str(folder / name), "odd_name"))
            continue
        try:
            facts[name] = _parse(read_text(folder / name))
        except FileNotFoundError:
            continue  # its epilog ran meanwhile
        except OSError as error:
            problems.append(Problem(str(folder / name), reason_of(error)))
        except Unusable as error:
            problems.append(Problem(str(folder / name), error.reason))
    return facts


def _parse(text: str) -> JobFacts:
    said = {match[1]: match[2] for match in map(_FACT.fullmatch, text.splitlines()) if match}
    uid = said.get("uid", "")
    return JobFacts(
        user=said.get("user", ""),
        uid=int(uid) if _JOB_ID.fullmatch(uid) else None,
        account=said.get("account", ""),
        partition=said.get("partition", ""),
        sluid=said.get("sluid", ""),
    )
