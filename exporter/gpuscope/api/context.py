"""What all request handlers share."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from gpuscope.api.answers import Answers
from gpuscope.api.auth import Authenticator, Bucket
from gpuscope.api.connections import Connections
from gpuscope.api.settings import Source, WebSettings
from gpuscope.api.web_config import WebConfig

__all__ = ["Access", "Context"]


@dataclass(frozen=True, slots=True)
class Access:
    """Who may do what, from one reading of the web configuration; replaced as a whole by a reload."""

    config: WebConfig
    users: Authenticator
    bucket: Bucket

    @classmethod
    def of(cls, config: WebConfig, executor: ThreadPoolExecutor) -> "Access":
        """Access as ``config`` wants it."""
        return cls(config, Authenticator(config.users, executor), Bucket(config.rate_limit))


@dataclass(slots=True)
class Context:
    """The server, as a handler sees it."""

    source: Source
    settings: WebSettings
    connections: Connections
    access: Access
    answers: Answers = field(default_factory=Answers)
