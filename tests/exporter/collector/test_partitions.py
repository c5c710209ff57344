"""The collector's series of partitions."""

from collections.abc import Callable

from tests.exporter.collector.conftest import RecordedSlurm, Running

STATE = "gpuscope_scheduler_partition_state"
NODES = "gpuscope_scheduler_partition_nodes"
GPUS = "gpuscope_scheduler_partition_gpus"
ML = 'scheduler="slurm",partition="ml"'


def test_partitions_with_their_nodes_and_gpus(collector: Callable[..., Running], recorded: RecordedSlurm) -> None:
    one = collector("--slurm", "--slurm.commands", str(recorded.commands))
    one.wait(Running.ready, "an answer of Slurm")
    told = one.metrics()
    states = {text.rpartition('state="')[2][:-2]: value for text, value in told.items() if text.startswith(STATE)}
    assert states == {"up": 1, "down": 0, "drain": 0, "inactive": 0, "unknown": 0}
    # gpu-1 drains while jobs run, gpu-2 runs, gpu-3 never came.
    assert {text: value for text, value in told.items() if text.startswith(NODES) and value} == {
        f'{NODES}{{{ML},state="ready"}}': 1,
        f'{NODES}{{{ML},state="draining"}}': 1,
        f'{NODES}{{{ML},state="down"}}': 1,
    }
    assert one.total(GPUS, ML, 'kind="total"') == 24
    held = sum(value for text, value in told.items() if "scheduler_node_gpus" in text and "allocated" in text)
    assert 0 < held == told[f'{GPUS}{{{ML},kind="allocated"}}']
    recorded.replace("partitions.txt", "State=UP", "State=DRAIN")
    one.wait(lambda one: one.value(f'{STATE}{{{ML},state="drain"}}') == 1, "the drain")
    # A node that does not tell its GPUs leaves the sum unknown.
    recorded.replace("nodes.json", '"gres":"gpu:h100:8"', '"gres":null')
    recorded.replace("nodes.json", ",gres/gpu=8,gres/gpu:h100=8", "")
    one.wait(lambda one: f'{GPUS}{{{ML},kind="total"}}' not in one.metrics(), "that GPUs are unknown")
    assert one.value(f'{GPUS}{{{ML},kind="allocated"}}') == held
    # And a Slurm that does not tell its partitions, their states.
    (recorded.commands / "partitions.txt").unlink()
    one.wait(lambda one: one.value(f'{STATE}{{{ML},state="unknown"}}') == 1, "the unknown state")
    assert one.total("gpuscope_collector_problems_total", 'reason="partitions_error"') > 0
