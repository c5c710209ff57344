"""Every setting of the collector, declared once."""

from gpuscope.config.option import Option, Type
from gpuscope.config.web import web_options

__all__ = ["COLLECTOR_OPTIONS"]

_T = Type
COLLECTOR_OPTIONS: tuple[Option, ...] = (
    *web_options(":9837"),
    Option("slurm", _T.SWITCH, False, "Follow the jobs of Slurm, whose commands must be on this machine."),
    Option(
        "slurm.commands", _T.FILE, "", "Folder of Slurm's commands. Empty takes them from $PATH.",
    ),
    Option(
        "slurm.completion-log", _T.FILE, "",
        "File of JobCompType=jobcomp/filetxt, read where there is no slurmdbd. Empty reads none.",
    ),
    Option("kubernetes", _T.SWITCH, False, "Follow the jobs of Kubernetes."),
    Option(
        "kubernetes.config", _T.FILE, "",
        "Kubeconfig file. Empty takes the pod's service account, else $KUBECONFIG or ~/.kube/config.",
    ),
    Option(
        "kubernetes.team-label", _T.TEXT, "team", "Label of jobs that names the team.",
    ),
    Option(
        "kubernetes.namespace", _T.LIST, (),
        "Namespace whose jobs are followed; Roles in it are enough. May be given several times. None follows all.",
    ),
    Option(
        "kubernetes.resource-claims", _T.SWITCH, True,
        "Count GPUs that dynamic resource allocation gave to pods; needs to read ResourceClaims where there are some.",
    ),
    Option(
        "kubernetes.lease", _T.TEXT, "",
        "NAMESPACE/NAME of a Lease by which several collectors agree on the one that counts. Empty uses none: then one "
        "may run, or several that share a state file.",
    ),
    Option(
        "agents", _T.LIST, (),
        "URL of agents whose faults explain why attempts ended, such as http://{node}:9836, where {node} stands for "
        "each node, or http://agents.monitoring.svc:9836, whose every address is asked. May be given several times.",
    ),
    Option("agents.user", _T.TEXT, "", "Name for agents that want a password."),
    Option("agents.password-file", _T.FILE, "", "File with the password. It is read again when it changes."),
    Option(
        "agents.ca-file", _T.FILE, "",
        "File with the authorities that certificates of agents come from. Empty takes those of the system.",
    ),
    Option("agents.cert-file", _T.FILE, "", "File with the certificate for agents that want one."),
    Option("agents.key-file", _T.FILE, "", "File with the key of that certificate."),
    Option(
        "stalled-after", _T.DURATION, 600.0,
        "Reported progress that stands still for longer makes a job stalled.", low=10, high=86_400,
    ),
    Option("interval", _T.DURATION, 15.0, "Time between two looks at a scheduler.", low=1, high=3600),
    Option(
        "counter-hold", _T.DURATION, 60.0,
        "A counter that begins is shown as 0 for so long, and after a restart as it was before, so that increase() "
        "sees its first event. At least one scrape interval; 0s shows every value at once.", high=3600,
    ),
    Option(
        "state-file", _T.FILE, "",
        "SQLite file that keeps counters and jobs over restarts. Empty keeps them in memory: then a restart begins "
        "counting anew.",
    ),
    Option(
        "max-jobs", _T.WHOLE, 5000,
        "So many jobs have series of their own: those that hold GPUs first, then those that live, then those that "
        "ended last. All are counted.", low=1, high=1_000_000,
    ),
    Option(
        "max-owners", _T.WHOLE, 1000,
        "So many owners (namespace, team, queue and kind of workload) have counters of their own; the jobs of those "
        "that come later are counted as other.", low=1, high=1_000_000,
    ),
    Option("xid-catalogue", _T.FILE, "", "CSV file whose rows override the shipped XID catalogue."),
    Option(
        "log.level", _T.CHOICE, "info", "Least important messages to log: debug, info, warning or error.",
        ("debug", "info", "warning", "error"),
    ),
    Option("log.format", _T.CHOICE, "logfmt", "Format of log lines: logfmt or json.", ("logfmt", "json")),
)  # fmt: skip
