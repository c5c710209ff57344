"""Which alert goes to whom: the tree of routes, first match first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpuscope_generator.alertmanager.model import Alertmanager, Grouping
from gpuscope_generator.rules.alert import Audience, Component, Scope, Severity

__all__ = ["NOBODY", "PREFIX", "WATCHDOG", "Match", "Route", "receivers_of", "route_tree", "told_receivers", "walk"]

PREFIX = "gpuscope-"
"""Before the name of every receiver of Alertmanager, so that it can live beside others."""
NOBODY = f"{PREFIX}nobody"
WATCHDOG = "Watchdog"


@dataclass(frozen=True, slots=True)
class Match:
    """One condition on a label.

    Attributes:
        label: its name.
        operator: ``=``, ``!=``, ``=~`` or ``!~``.
        value: or the regular expression, which must match as a whole.
    """

    label: str
    operator: str
    value: str

    @property
    def text(self) -> str:
        """As Alertmanager's ``matchers`` have it."""
        escaped = self.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'{self.label}{self.operator}"{escaped}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route.

    Attributes:
        about: what it is there for, in a few words.
        matches: all of them must hold.
        receiver: who is told, as Alertmanager calls it.
        grouping: None takes that of the route above.
        goes_on: whether the routes after it are looked at, too.
        routes: below it; who matches none of them stays here.
    """

    about: str
    matches: tuple[Match, ...] = ()
    receiver: str
    grouping: Grouping | None = None
    goes_on: bool = False
    routes: tuple[Route, ...] = ()


def receivers_of(route: str, settings: Alertmanager) -> str:
    """The receiver of Alertmanager for a route of the settings; several routes may share one."""
    if not settings.told(route):
        return NOBODY
    if route in ("recovery", "incidents") and route not in settings.routes:
        route = "critical"
    return f"{PREFIX}{route}"


def told_receivers(settings: Alertmanager) -> dict[str, tuple[str, ...]]:
    """The names of the settings' receivers behind each receiver of Alertmanager, in the order of the file."""
    found: dict[str, tuple[str, ...]] = {}
    for route in ("heartbeat", "recovery", "incidents", "critical", "owners", "warnings"):
        name = receivers_of(route, settings)
        if name != NOBODY:
            found[name] = settings.told(route)
    found |= {_team(team): names for team, names in settings.teams.items()}
    return found | {NOBODY: ()}


def _team(team: str) -> str:
    return f"{PREFIX}team-{team}"


def route_tree(settings: Alertmanager) -> Route:
    """The whole tree; its root takes what nothing else does."""
    grouping = settings.grouping
    severity = {one: Match("severity", "=", one.value) for one in Severity}
    critical = severity[Severity.CRITICAL]
    wide = Match("scope", "=~", f"{Scope.RACK}|{Scope.FABRIC}|{Scope.CLUSTER}")
    work = Match("scope", "=~", f"{Scope.JOB}|{Scope.PROCESS}")
    routes = [
        Route(
            about="dead-man's switch",
            matches=(Match("alertname", "=", WATCHDOG),),
            receiver=receivers_of("heartbeat", settings),
            grouping=grouping["heartbeat"],
        ),
        Route(about="told to nobody", matches=(severity[Severity.NONE],), receiver=NOBODY),
        Route(
            about="the automatic recovery",
            matches=(Match("component", "=", Component.RECOVERY.value), critical),
            receiver=receivers_of("recovery", settings),
            grouping=grouping["recovery"],
        ),
        *_owners(settings),
        Route(
            about="a rack, a fabric or a cluster",
            matches=(wide, critical),
            receiver=receivers_of("incidents", settings),
            grouping=grouping["incidents"],
        ),
        Route(
            about="a node, its GPUs: one page a node",
            matches=(critical,),
            receiver=receivers_of("critical", settings),
            grouping=grouping["critical"],
            routes=(
                Route(
                    about="a job: one page a job",
                    matches=(work,),
                    receiver=receivers_of("critical", settings),
                    grouping=replace(grouping["critical"], group_by=("cluster", "namespace", "workload")),
                ),
            ),
        ),
        Route(
            about="working hours",
            matches=(severity[Severity.WARNING],),
            receiver=receivers_of("warnings", settings),
            grouping=grouping["warnings"],
        ),
        Route(about="on boards only", matches=(severity[Severity.INFO],), receiver=NOBODY),
    ]
    return Route(
        about="everything else",
        receiver=receivers_of("warnings", settings),
        grouping=grouping["warnings"],
        routes=tuple(routes),
    )


def _owners(settings: Alertmanager) -> Iterator[Route]:
    """To the team whose work it is; where that is critical, to those who are woken as well."""
    owner = Match("audience", "=", Audience.OWNER.value)
    rest = receivers_of("owners", settings)
    teams = tuple(
        Route(about=f"team {team}", matches=(Match("team", "=", team),), receiver=_team(team))
        for team in settings.teams
    )
    if not teams and rest == NOBODY:
        return
    critical, milder = (Match("severity", operator, Severity.CRITICAL.value) for operator in ("=", "!="))
    for about, also, goes_on in (("critical for an owner", critical, True), ("for an owner", milder, False)):
        if rest != NOBODY:
            yield Route(
                about=about,
                matches=(owner, also),
                receiver=rest,
                grouping=settings.grouping["owners"],
                goes_on=goes_on,
                routes=teams,
            )
            continue
        # Without receivers for owners of no team, their alerts go on to where all others of the severity go.
        named = Match("team", "=~", "|".join(_literal(team) for team in settings.teams))
        yield Route(
            about=about,
            matches=(owner, also, named),
            receiver=NOBODY,
            grouping=settings.grouping["owners"],
            goes_on=goes_on,
            routes=teams,
        )


def _literal(text: str) -> str:
    """A regular expression that matches that text alone."""
    return "".join(f"\\{letter}" if letter in r"\.+*?()|[]{}^$" else letter for letter in text)


def walk(route: Route, depth: int = 0, above: Grouping | None = None) -> Iterator[tuple[int, Route, Grouping | None]]:
    """Every route with its depth and the grouping that holds there, in the order in which they are tried."""
    grouping = route.grouping or above
    yield depth, route, grouping
    for inner in route.routes:
        yield from walk(inner, depth + 1, grouping)
