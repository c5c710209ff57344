"""Panels of the GPU Partition board on a fleet that is known."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.fleet import DCGM, NATIVE, Device, dcgm, native
from tests.generator.rules.instances import SPLIT, Instance, dcgm_split, native_split

from gpuscope_generator.panels import mig, mig_gpus, mig_instances, mig_layout, mig_nodes
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Panel, Table, ValueColumn

CHOSEN = dict.fromkeys(("profile", "gi"), ".*")
FILES = (*NATIVE, "level-partition")
FLEET = native_split(Device(), *SPLIT) | native(Device(gpu=1, uuid="GPU-b", pod="train-0"))
AT = 'gpu="0",node="n1",uuid="GPU-a"'


def query(panel: Panel, number: int = 0) -> str:
    """What the panel asks."""
    return str(panel.queries[number].expression)


def column(table: Table, title: str) -> str:
    """What a column of a table asks."""
    found = {one.title: one for one in table.columns if isinstance(one, ValueColumn)}
    return str(found[title].expression)


def test_overview_counts_gpus_instances_and_slices(tmp_path: Path) -> None:
    """One GPU of two is split: 3 + 2 + 1 + 1 slices, five of them held, four of them at work."""
    expect(
        tmp_path,
        FLEET,
        {
            query(mig.mig_gpus()): {"{}": 1},
            query(mig.mig_gpus(), 1): {"{}": 2},
            query(mig.instances_total()): {"{}": 4},
            query(mig.instances_total(), 1): {"{}": 2},
            f"round({query(mig.slices_held())} * 7, 0.001)": {"{}": 5},
            f"round({query(mig.busy_share(Settings()))} * 5, 0.001)": {"{}": 4},
            query(mig.slices_unconfigured()): {"{}": 0},
            query(mig.instances_by_profile()): {
                '{profile="3g.40gb"}': 1,
                '{profile="2g.20gb"}': 1,
                '{profile="1g.10gb"}': 2,
            },
            query(mig.instances_over_time(), 1): {
                '{profile="3g.40gb"}': 0,
                '{profile="2g.20gb"}': 0,
                '{profile="1g.10gb"}': 2,
            },
            f"round(({query(mig.gpu_equivalents(), 3)}) * 7, 0.001)": {"{}": 4},
            column(mig_nodes.nodes_with_mig(), "GPUs in MIG mode"): {'{node="n1"}': 1},
            column(mig_nodes.nodes_with_mig(), "Free instances"): {'{node="n1"}': 2},
        },
        only=FILES,
        at="3m",
        variables=CHOSEN,
    )


def test_instances_show_their_owner_and_free_ones_stay_while_nobody_is_chosen(tmp_path: Path) -> None:
    table = mig_layout.layout(Settings())
    free = ('gi="5",profile="1g.10gb"', 'gi="6",profile="1g.10gb"')
    big = 'gi="1",profile="3g.40gb",namespace="ml",pod="big-0",workload="big-0"'
    mid = 'gi="3",profile="2g.20gb",namespace="ml",pod="mid-0",workload="mid-0"'
    expect(
        tmp_path,
        FLEET,
        {
            query(mig_instances.compute()): {
                f"{{{AT},{big}}}": 1,
                f"{{{AT},{mid}}}": 0.5,
                **{f"{{{AT},{one}}}": 0 for one in free},
            },
            f"round({query(mig_instances.memory())}, 0.001)": {
                f"{{{AT},{big}}}": 0.75,
                f"{{{AT},{mid}}}": 0.5,
                **{f"{{{AT},{one}}}": 0.4 for one in free},
            },
            column(table, "Slices"): {
                f'{{{AT},{big},workload_kind="Pod"}}': 3,
                f'{{{AT},{mid},workload_kind="Pod"}}': 2,
                **{f"{{{AT},{one}}}": 1 for one in free},
            },
            f"round(({query(mig_instances.whole_gpus())}) * 7, 0.001)": {f"{{{AT}}}": 4},
        },
        only=FILES,
        at="3m",
        variables=CHOSEN,
    )


def test_chosen_workload_leaves_only_its_instances(tmp_path: Path) -> None:
    expect(
        tmp_path,
        FLEET,
        {
            f"count by (pod) ({query(mig_instances.compute())})": {'{pod="mid-0"}': 1},
            f"count by (pod) ({query(mig_layout.holders_over_time())})": {"{}": 1},
        },
        only=FILES,
        at="3m",
        variables=CHOSEN | {"workload": "mid-0"},
    )


def test_fragmentation_names_what_cannot_be_put_together(tmp_path: Path) -> None:
    """Three instances of one slice are free and one slice is in none: four slices, and no place for 2g."""
    pieces = (
        *(Instance(gi=number, profile="1g.10gb", slices=1) for number in (7, 8, 9)),
        Instance(gi=1, profile="3g.40gb", slices=3, pod="big-0"),
    )
    table = mig_gpus.fragmentation()
    expect(
        tmp_path,
        native_split(Device(), *pieces),
        {
            column(table, "Slices in no instance"): {'{gpu="0",node="n1"}': 1},
            column(table, "Slices held"): {'{gpu="0",node="n1"}': 3},
            column(table, "Slices free"): {'{gpu="0",node="n1"}': 3},
            column(table, "Largest free instance"): {'{gpu="0",node="n1"}': 1},
            query(mig_gpus.free_by_size()): {'{profile="1g.10gb"}': 3, '{profile="3g.40gb"}': 0},
        },
        only=FILES,
        at="3m",
        variables=CHOSEN,
    )


def test_shared_gpus_are_those_with_several_owners_outside_mig(tmp_path: Path) -> None:
    samples = dcgm_split(Device(uuid="GPU-m", gpu=2), *SPLIT)
    for number, pod in enumerate(("nb-0", "nb-1", "nb-2")):
        samples |= dcgm(Device(pod=pod, extra={"vgpu": str(number)}))
    samples |= dcgm(Device(gpu=1, uuid="GPU-b", pod="alone"))
    table = mig_gpus.shared_gpus()
    expect(
        tmp_path,
        samples,
        {
            column(table, "Owners"): {'{gpu="0",node="n1"}': 3},
            column(table, "Compute of the device"): {'{gpu="0",node="n1"}': 0.5},
            f"round({column(table, 'Memory of the device')} * 79, 0.001)": {'{gpu="0",node="n1"}': 40},
        },
        only=(*DCGM, "level-partition"),
        at="3m",
        variables=CHOSEN,
    )


def test_state_of_the_mig_manager(tmp_path: Path) -> None:
    labels = 'kube_node_labels{{instance="ksm:8080",node="{0}",label_nvidia_com_mig_config="{1}",{2}}}'
    state = 'label_nvidia_com_mig_config_state="{}"'
    samples = {
        labels.format("n1", "all-1g.10gb", state.format("success")): "1x40",
        labels.format("n2", "all-balanced", state.format("failed")): "1x40",
        'kube_node_labels{instance="ksm:8080",node="n3"}': "1x40",
    }
    expect(
        tmp_path,
        samples,
        {
            query(mig_nodes.config_states()): {'{node="n1"}': 1, '{node="n2"}': 4},
            column(mig_nodes.configs(), "Known"): {
                '{node="n1",config="all-1g.10gb",state="success"}': 1,
                '{node="n2",config="all-balanced",state="failed"}': 1,
            },
        },
        only=("mig-manager",),
        at="3m",
        variables=CHOSEN,
    )
