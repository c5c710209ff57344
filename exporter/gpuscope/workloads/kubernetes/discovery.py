"""Which of the watched kinds this cluster has, in which version."""

import logging
from collections.abc import Iterable

from gpuscope.workloads.kubernetes.failure import ApiFailure
from gpuscope.workloads.kubernetes.resources import Resource, WatchedKind
from gpuscope.workloads.kubernetes.session import Session

__all__ = ["installed"]

log = logging.getLogger(__name__)


def installed(session: Session, kinds: Iterable[WatchedKind], before: dict[str, Resource]) -> dict[str, Resource]:
    """Kinds that the cluster serves, by name. A group that does not answer keeps what it had before.

    Raises:
        ApiFailure: the list of groups itself could not be read.
    """
    groups = session.groups()
    plurals: dict[tuple[str, str], set[str] | None] = {}
    found: dict[str, Resource] = {}
    for kind in kinds:
        if not kind.group:
            found[kind.name] = Resource(kind, kind.versions[0])
            continue
        offered = groups.get(kind.group, [])
        for version in (one for one in kind.versions if one in offered):
            if (kind.group, version) not in plurals:
                plurals[kind.group, version] = _plurals(session, kind.group, version)
            names = plurals[kind.group, version]
            if names is None and kind.name in before:
                found.setdefault(kind.name, before[kind.name])
            elif names is not None and kind.plural in names:
                found.setdefault(kind.name, Resource(kind, version))
    return found


def _plurals(session: Session, group: str, version: str) -> set[str] | None:
    try:
        return session.plurals(group, version)
    except ApiFailure as failure:
        if failure.of_all:
            raise
        log.warning("%s/%s: its kinds cannot be told: %s", group, version, failure)
        return None
