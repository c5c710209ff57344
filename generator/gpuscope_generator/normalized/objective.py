"""What was not as it should be, as a share over windows: alerts about budgets compare two of them."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.normalized.inference import MODEL
from gpuscope_generator.normalized.queue import QUEUE
from gpuscope_generator.promql import gauge

__all__ = ["BADPUT", "LONG", "MODEL_BAD", "OWNER", "SHORT", "SLOW_WAITS", "TEAM_GPUS"]

SHORT = ("5m", "30m", "1h", "2h", "6h")
"""Values of ``window`` that are evaluated often."""
LONG = ("1d", "3d")
"""Those that are evaluated every few minutes."""
OWNER = ("cluster", "namespace", "team")

MODEL_BAD = gauge(
    "model:slo_bad:ratio",
    *MODEL,
    "objective",
    "window",
    unit=Unit.RATIO,
    meaning="Share of first tokens (time_to_first_token) or later ones (inter_token) that came too late, or of "
    "requests "
    "that failed (success); of windows of an hour and more only where there was enough traffic to tell.",
)
TEAM_GPUS = gauge(
    "team:training_gpus_by_use:sum",
    *OWNER,
    "use",
    meaning="GPUs that training jobs held over the last five minutes: all of them (held), and of these the ones that "
    "did not train or write a checkpoint (lost). Time of which nothing is known is in neither.",
)
BADPUT = gauge(
    "team:training_badput:ratio",
    *OWNER,
    "window",
    unit=Unit.RATIO,
    meaning="Share of the GPU-time of training jobs that was lost; of windows of an hour and more only where enough "
    "was held to tell.",
)
SLOW_WAITS = gauge(
    "queue:slow_waits:ratio",
    *QUEUE,
    "window",
    unit=Unit.RATIO,
    meaning="Share of admitted workloads that had waited too long; only where enough were admitted to tell.",
)
