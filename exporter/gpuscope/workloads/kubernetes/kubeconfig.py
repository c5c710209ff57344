"""Where the API is and who we are there: a kubeconfig, or a pod's service account, checked before anything is asked."""

import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import yaml
from lightkube.config.kubeconfig import KubeConfig, SingleConfig
from lightkube.config.models import User
from lightkube.core.exceptions import ConfigError as LightkubeConfigError

from gpuscope.errors import ConfigError

__all__ = ["SERVICE_ACCOUNT", "find_config", "place_of"]

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where kubelet puts what a pod needs to talk to its API server."""

_EXEC_VERSIONS = ("client.authentication.k8s.io/v1alpha1", "client.authentication.k8s.io/v1beta1")


def place_of(kubeconfig: str) -> str:
    """What an error about the way to the API begins with."""
    return f"--kubernetes.config {kubeconfig}" if kubeconfig else "kubernetes: no way to the API"


def find_config(kubeconfig: str, context: str, service_account: Path) -> SingleConfig:
    """The cluster and the user to talk as.

    Args:
        kubeconfig: path of a file; empty takes the service account, else ``$KUBECONFIG``, else the file in the home
            folder.
        context: its context; empty takes the current one.
        service_account: folder of a pod's service account.

    Raises:
        ConfigError: there is none, or it cannot work.
    """
    place = place_of(kubeconfig)
    try:
        if kubeconfig:
            found = KubeConfig.from_file(kubeconfig)
        else:
            _check_service_account(service_account)
            found = KubeConfig.from_env(service_account)
        config = found.get(context or None)
    except (LightkubeConfigError, OSError) as error:
        raise ConfigError(f"{place}: {_line(error)}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{place}: is no YAML: {_line(error)}") from error
    except KeyError as error:
        raise ConfigError(f"{place}: lacks {error}") from error
    except (AttributeError, TypeError, ValueError, msgspec.ValidationError) as error:
        raise ConfigError(f"{place}: is no kubeconfig: {_line(error)}") from error
    reason = "no context" if config is None else _unusable(config)
    if config is None or reason:
        raise ConfigError(f"{place}: {reason}")
    return config


def _unusable(config: SingleConfig) -> str:
    """Why this cannot work; empty where it may."""
    server, user = config.cluster.server, config.user
    try:
        parts = urlsplit(server)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except (ValueError, AttributeError, TypeError):
        good = False
    if not good:
        return f"server {server!r} is no URL such as https://host:6443"
    return "its context names no user" if user is None else _unusable_user(user)


def _unusable_user(user: User) -> str:
    if user.exec is not None:
        if user.exec.apiVersion not in _EXEC_VERSIONS:
            return f"a plugin of {user.exec.apiVersion} is not supported, {_EXEC_VERSIONS[-1]} is"
        if shutil.which(user.exec.command) is None:
            return f"its plugin {user.exec.command!r} is not there"
    if user.token_file and not os.access(user.token_file, os.R_OK):
        return f"its token file {user.token_file} cannot be read"
    return ""


def _check_service_account(folder: Path) -> None:
    """A pod's service account is all there or not there at all: half of it is a mistake that a word should name."""
    if not (folder / "token").exists():
        return
    for name in ("ca.crt", "namespace"):
        if not (folder / name).exists():
            raise ConfigError(f"kubernetes: {folder} has a token and no {name}")
    for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        if not os.environ.get(name):
            raise ConfigError(f"kubernetes: {folder} has a token, and ${name} is not set")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
