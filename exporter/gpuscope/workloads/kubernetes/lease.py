"""A Lease of the Kubernetes API as the way to agree on a leader, as controllers use it.

Clocks of two machines are never compared: whoever waits measures, on a clock of its own, how long the Lease did not
change. https://kubernetes.io/docs/concepts/architecture/leases/
"""

import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from gpuscope.errors import ConfigError
from gpuscope.workloads.kubernetes.failure import ApiFailure
from gpuscope.workloads.kubernetes.session import Session

__all__ = ["Lease"]

log = logging.getLogger(__name__)

_GROUP = "coordination.k8s.io/v1"
_STATE = "gpuscope.io/state"
_REQUEST_S = 3.0


class Lease:
    """One candidate for a Lease. Needs ``get``, ``create`` and ``update`` on leases in its namespace.

    Args:
        session: the way to the API; closed by ``release``'s caller.
        namespace: where the Lease is.
        name: of the Lease.
        identity: name of this candidate, that no other has.
        duration_s: so long after the leader's last sign of life another may take over. The leader gives up at two
            thirds of it, so that two never lead at a time.
        monotonic: tells seconds.
        claim: is told which memory the last leader counted with (``None`` when nobody led yet), and gives that of this
            candidate; called before the Lease is taken. The Lease keeps it as an annotation.
    """

    def __init__(
        self, session: Session, namespace: str, name: str, identity: str, duration_s: float = 15.0,
        monotonic: Callable[[], float] = time.monotonic, claim: Callable[[str | None], str] | None = None,
    ) -> None:  # fmt: skip
        self._session = session
        self._where = f"{namespace}/{name}"
        self._names = {"namespace": namespace, "name": name}
        self._collection = f"/apis/{_GROUP}/namespaces/{namespace}/leases"
        self._path = f"{self._collection}/{name}"
        self._identity = identity
        self._duration_s = duration_s
        self._monotonic = monotonic
        self._claim = claim or (lambda _: "")
        self._held: dict[str, Any] | None = None
        self._renewed = 0.0
        self._seen = ("", 0.0)

    def hold(self) -> str:
        """Takes the Lease when it is free or its holder fell silent, else renews or waits."""
        began = self._monotonic()
        try:
            reason = self._renew(began) if self._held else self._take(began)
        except ApiFailure as failure:
            if self._held is not None and self._monotonic() - self._renewed < self._duration_s * 2 / 3:
                return ""
            self._held = None
            return f"lease {self._where}: {failure}"
        except ConfigError as error:
            return f"lease {self._where} is not taken: {error}"
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            self._held = None
            return f"lease {self._where} is not understood: {error}"
        return reason

    def release(self) -> None:
        """Leaves the Lease without a holder, so that nobody has to wait for its end."""
        if self._held is None:
            return
        lease, self._held = self._held, None
        try:
            self._put(lease, holderIdentity="", leaseDurationSeconds=1, renewTime=_now())
        except ApiFailure as failure:
            log.warning("lease %s is not given back and will run out: %s", self._where, failure)

    def _renew(self, began: float) -> str:
        try:
            self._held = self._put(self._held or {}, renewTime=_now())
        except ApiFailure as failure:
            if failure.reason != "conflict":
                raise
            self._held = None  # somebody wrote to it
            return self._take(began)
        self._renewed = began
        return ""

    def _take(self, began: float) -> str:
        try:
            lease = self._send("GET", self._path)
        except ApiFailure as failure:
            if failure.reason != "not_found":
                raise
            return self._write(began, None)
        spec = lease.get("spec") or {}
        holder, version = spec.get("holderIdentity") or "", lease["metadata"]["resourceVersion"]
        if holder and holder != self._identity:
            if self._seen[0] != version:
                self._seen = (version, began)
            if began - self._seen[1] <= float(spec.get("leaseDurationSeconds") or self._duration_s):
                return f"{holder} leads, by lease {self._where}"
        return self._write(began, lease)

    def _write(self, began: float, lease: dict[str, Any] | None) -> str:
        known = (lease or {}).get("metadata", self._names)
        annotations = known.get("annotations") or {}
        state = self._claim(None if lease is None else annotations.get(_STATE, ""))
        metadata = {**known, "annotations": {**annotations, _STATE: state}}
        now = _now()
        fields: dict[str, Any] = {
            "holderIdentity": self._identity, "leaseDurationSeconds": round(self._duration_s),
            "acquireTime": now, "renewTime": now,
        }  # fmt: skip
        try:
            if lease is None:
                document = {"apiVersion": _GROUP, "kind": "Lease", "metadata": metadata, "spec": fields}
                self._held = self._send("POST", self._collection, document)
            else:
                transitions = (lease.get("spec") or {}).get("leaseTransitions") or 0
                lease = {**lease, "metadata": metadata}
                self._held = self._put(lease, **fields, leaseTransitions=int(transitions) + 1)
        except ApiFailure as failure:
            if failure.reason != "conflict":
                raise
            return f"another collector was faster with lease {self._where}"
        self._renewed = began
        return ""

    def _put(self, lease: dict[str, Any], **fields: object) -> dict[str, Any]:
        return self._send("PUT", self._path, {**lease, "spec": {**(lease.get("spec") or {}), **fields}})

    def _send(self, method: str, path: str, document: dict[str, Any] | None = None) -> dict[str, Any]:
        body = None if document is None else json.dumps(document).encode()
        answer = json.loads(self._session.send(method, path, body, _REQUEST_S))
        if not isinstance(answer, dict):
            raise TypeError("no object")
        return answer


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
