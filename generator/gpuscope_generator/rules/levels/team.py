"""From what pods and jobs hold to teams, by the model of the GPU."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, mig, workload
from gpuscope_generator.promql import Vector, join, on, select, sum_by
from gpuscope_generator.rules.levels.holding import idle, of_gpus, of_instances
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["team_rules"]


def team_rules(settings: Settings) -> RuleFile:
    """Rules of teams. A team's GPU-hours are the sum of the samples of its GPUs, times their distance."""

    def of_team(shared: Vector) -> Vector:
        return sum_by(join(shared, select(gpu.INFO), on=gpu.GPU, take=("model",)), *workload.TEAM)

    power = on(select(workload.POD_MIG_SHARE), "*", select(gpu.POWER), gpu.GPU, many="left")
    active = of_gpus(gpu.COMPUTE_ACTIVE).or_(of_instances(mig.COMPUTE_ACTIVE))
    both = select(workload.POD_GPU_SHARE).or_(select(workload.POD_MIG_SHARE))
    return RuleFile(
        path="recording/level-team.yaml",
        comment="GPUs of teams, namespaces and queues by model, and of these the idle ones. GPU-hours of a range are "
        f"sum_over_time(team:gpus:count[range]) * {settings.intervals.aggregate} / 3600.",
        groups=(
            Group(
                "gpuscope-level-team",
                settings.intervals.aggregate,
                (
                    recording(workload.TEAM_GPUS, of_team(both), state="allocated"),
                    recording(workload.TEAM_GPUS, of_team(idle(settings)), state="idle"),
                    recording(workload.TEAM_COMPUTE_ACTIVE, of_team(active)),
                    recording(workload.TEAM_POWER, of_team(of_gpus(gpu.POWER).or_(power))),
                ),
            ),
        ),
    )
