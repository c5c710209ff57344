"""What the Prometheus operator makes of an AlertmanagerConfig: a route below the root of its own Alertmanager."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SPELLED = {"clientURL": "client_url", "requireTLS": "require_tls", "apiURL": "api_url"}
PAIRS = ("headers", "details")


def merged(manifest: dict[str, Any], secrets: Path, *, strategy: str) -> dict[str, Any]:
    """A configuration of Alertmanager.

    Args:
        manifest: the AlertmanagerConfig.
        secrets: folder with a file for each key of the Secret.
        strategy: ``OnNamespace`` adds a condition on the namespace of the manifest, as the operator does by default.
    """
    spec, place = manifest["spec"], manifest["metadata"]
    forced = [f'namespace="{place["namespace"]}"'] if strategy == "OnNamespace" else []
    prefix = f"{place['namespace']}/{place['name']}/"
    route = _route(spec["route"], prefix)
    route["matchers"] = [*forced, *route.get("matchers", [])]
    route["continue"] = True
    return {
        "route": {"receiver": "operator-null", "group_by": ["job"], "routes": [route]},
        "inhibit_rules": [
            {
                "source_matchers": [*forced, *map(_matcher, rule["sourceMatch"])],
                "target_matchers": [*forced, *map(_matcher, rule["targetMatch"])],
                "equal": rule["equal"],
            }
            for rule in spec["inhibitRules"]
        ],
        "receivers": [
            {"name": "operator-null"},
            *(
                {"name": prefix + one["name"]}
                | {
                    _snake(kind): [_sent(config, secrets) for config in found]
                    for kind, found in one.items()
                    if kind != "name"
                }
                for one in spec["receivers"]
            ),
        ],
    }


def _route(route: dict[str, Any], prefix: str) -> dict[str, Any]:
    found = {_snake(key): value for key, value in route.items() if key not in ("matchers", "routes")}
    found["receiver"] = prefix + route["receiver"]
    if "matchers" in route:
        found["matchers"] = [_matcher(one) for one in route["matchers"]]
    if "routes" in route:
        found["routes"] = [_route(inner, prefix) for inner in route["routes"]]
    return found


def _matcher(one: dict[str, str]) -> str:
    value = one["value"].replace("\\", "\\\\").replace('"', '\\"')
    return f'{one["name"]}{one["matchType"]}"{value}"'


def _sent(config: dict[str, Any], secrets: Path) -> dict[str, Any]:
    def secret(reference: dict[str, str]) -> str:
        return (secrets / reference["key"]).read_text(encoding="utf-8").strip()

    found: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, dict) and "key" in value:
            found[_snake(key)] = secret(value)
        elif key in PAIRS:
            found[key] = {one["key"]: one["value"] for one in value}
        elif key == "httpConfig":
            held = value["authorization"]
            token = secret(held["credentials"])
            found["http_config"] = {"authorization": {"type": held["type"], "credentials": token}}
        else:
            found[_snake(key)] = value
    if "url_secret" in found:
        found["url"] = found.pop("url_secret")
    return found


def _snake(key: str) -> str:
    return SPELLED.get(key, re.sub(r"(?<!^)([A-Z])", lambda found: f"_{found[1].lower()}", key))
