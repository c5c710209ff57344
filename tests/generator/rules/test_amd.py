"""What AMD's exporter says otherwise than dcgm-exporter does."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.fleet import Device, amd

ONLY = ("amd", "devices", "level-node")
AT = 'gpu="0",node="n1",uuid="6924"'


def partitions(number: int = 8, *, pods: dict[int, str] | None = None) -> dict[str, str]:
    """A GPU in CPX mode: every partition is a device of its own, and the first tells of the whole."""
    found: dict[str, str] = {}
    for part in range(number):
        labels = (
            f'gpu_id="{part}",gpu_partition_id="{part}",gpu_compute_partition_type="cpx",serial_number="6924",'
            'card_series="AMD Instinct MI300X",hostname="n1",instance="n1:5000"'
        )
        pod = (pods or {}).get(part)
        if pod:
            labels += f',exported_pod="{pod}",exported_namespace="ml"'
        found |= {
            f"gpu_package_power{{{labels}}}": f"{600 if part == 0 else 0}x40",
            f"gpu_power_usage{{{labels}}}": f"{600 if part == 0 else 0}x40",
            f"gpu_total_vram{{{labels}}}": "24576x40",
            f"gpu_used_vram{{{labels}}}": f"{1024 * part}x40",
            f'gpu_gfx_busy_instantaneous{{{labels},xcc_index="0"}}': f"{100 if part < 2 else 0}x40",
        }
        if part == 0:
            found[f"gpu_gfx_activity{{{labels}}}"] = "0x40"
    return found


def test_split_gpu_is_one_gpu_with_the_power_of_its_first_partition(tmp_path: Path) -> None:
    """Two of eight partitions work, and one of eight is held."""
    expect(
        tmp_path,
        partitions(pods={1: "infer-0"}),
        {
            "count(gpu:info:union)": {"{}": 1},
            "gpu:power_watts:union": {f"gpu:power_watts:union{{{AT}}}": 600},
            "node:gpu_power_watts:sum": {'node:gpu_power_watts:sum{node="n1"}': 600},
            "gpu:compute_active:ratio_union": {f"gpu:compute_active:ratio_union{{{AT}}}": 0.25},
            "round(gpu:allocated:ratio_union, 0.001)": {f"{{{AT}}}": 0.125},
            "count by (uuid, pod) (gpu:owner:union)": {'{uuid="6924",pod="infer-0"}': 1},
            "count(mig:info:union)": {"{}": 8},
            'mig:compute_active:ratio_union{gi="1"}': {
                f'mig:compute_active:ratio_union{{{AT},gi="1",profile="cpx"}}': 1
            },
            'mig:memory_used_bytes:union{gi="2"}': {
                f'mig:memory_used_bytes:union{{{AT},gi="2",profile="cpx"}}': 2 * 2**30
            },
            # Partitions may share one memory: what they tell of it is not added up.
            "gpu:memory_used_bytes:union": {},
        },
        only=ONLY,
        at="2m",
    )


def test_mi300_activity_comes_from_its_cores(tmp_path: Path) -> None:
    """The plain activity of an MI300X stays at 0; the cores tell, in percent."""
    samples = amd(Device(uuid="6924", compute=0.0))
    labels = (
        next(name for name in samples if name.startswith("gpu_health")).removeprefix("gpu_health{").removesuffix("}")
    )
    for core, busy in enumerate((100, 50, 50, 0)):
        samples[f'gpu_gfx_busy_instantaneous{{{labels},xcc_index="{core}"}}'] = f"{busy}x40"
    expect(
        tmp_path,
        samples,
        {"gpu:compute_active:ratio_union": {f"gpu:compute_active:ratio_union{{{AT}}}": 0.5}},
        only=ONLY,
        at="1m",
    )


def test_gpu_that_the_health_service_calls_unhealthy_is(tmp_path: Path) -> None:
    samples = amd(Device(uuid="6924"))
    for name in samples:
        if name.startswith("gpu_health"):
            samples[name] = "0x40"
    expect(
        tmp_path,
        samples,
        {"gpu:healthy:bool": {f"gpu:healthy:bool{{{AT}}}": 0}, "gpu:up:bool": {f"gpu:up:bool{{{AT}}}": 1}},
        only=ONLY,
        at="2m",
    )


def test_pod_of_amds_exporter_is_never_an_owner(tmp_path: Path) -> None:
    """With ``honorLabels`` an empty pod is none, and the scrape puts the exporter's there."""
    target = 'instance="n1:5000",namespace="kube-amd-gpu",pod="exporter-q8r2t"'
    labels = f'gpu_id="0",gpu_partition_id="0",serial_number="6924",card_series="MI300X",hostname="n1",{target}'
    expect(
        tmp_path,
        {f"up{{{target}}}": "1x40", f"gpu_package_power{{{labels}}}": "100x40"},
        {"gpu:owner:union": {}, "gpu:allocated:ratio_union": {}},
        only=ONLY,
        at="1m",
    )
