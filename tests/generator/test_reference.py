"""The reference of metrics as people read it."""

import re
from pathlib import Path

import pytest

from gpuscope.catalogue import CLUSTER_METRICS, METRICS, SUBJECTS
from gpuscope.catalogue.metric import Metric, Tier
from gpuscope.config.collector import COLLECTOR_OPTIONS
from gpuscope.config.settings import OPTIONS
from gpuscope_generator import reference
from gpuscope_generator.lookup import DCGM_LABELS, WITHOUT_TWIN
from gpuscope_generator.reference_text import LABEL_MEANINGS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def page() -> str:
    return reference.page()


def section(page: str, heading: str) -> str:
    level = len(heading) - len(heading.lstrip("#"))
    found = re.search(rf"^{re.escape(heading)}$(.*?)(?=^#{{1,{level}}} |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def rows(text: str, after: str) -> list[list[str]]:
    """Cells of the table whose heading starts with ``after``."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {after} |"))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return found


def test_committed_page_is_current(page: str) -> None:
    assert (DOCS / "metrics.md").read_text(encoding="utf-8") == page


def test_page_says_that_it_is_generated_and_where_it_ends(page: str) -> None:
    assert page.startswith(f"{reference.BEGIN}\n")
    assert page.endswith(f"{reference.END}\n")
    assert reference.page() == page


@pytest.mark.parametrize("subject", SUBJECTS)
def test_section_of_a_subject_lists_its_metrics_in_order(page: str, subject: str) -> None:
    part = section(page, f"### {subject}")
    listed = [re.findall(r'<a id="(\w+)"></a>`(\w+)`', row[0])[0] for row in rows(part, "Metric | Type")]
    assert listed == [(metric.name, metric.name) for metric in SUBJECTS[subject]]
    assert [row[0] for row in rows(part, "Metric | Source")] == [f"`{metric.name}`" for metric in SUBJECTS[subject]]


@pytest.mark.parametrize(
    ("subject", "sentence"),
    [
        ("agent", "Always on."),
        ("power", "On by default; `--no-collector.power` switches it off."),
        ("pipes", "Off by default; `--collector.pipes` switches it on."),
    ],
)
def test_section_says_which_flag_switches_the_subject(page: str, subject: str, sentence: str) -> None:
    assert sentence in section(page, f"### {subject}")


def test_flags_on_the_page_are_flags_of_the_agent_or_the_collector(page: str) -> None:
    options = (*OPTIONS, *COLLECTOR_OPTIONS)
    known = {option.flag for option in options} | {f"--no-{option.key}" for option in options}
    named = set(re.findall(r"--[a-z-]+(?:\.[a-z0-9_-]+)?\b", page)) - {"--query-gpu", "--help-query-gpu"}
    assert named - known == set()
    assert {option.flag for option in OPTIONS if option.key.startswith("interval.")} <= named


def test_intervals_on_the_page_are_the_defaults_of_the_agent() -> None:
    for option in OPTIONS:
        if option.key.startswith("interval."):
            assert reference.TIERS[Tier(option.key.removeprefix("interval."))] == f"every {option.default:g} s"
    assert set(reference.TIERS) == set(Tier)


def cells(page: str, metric: Metric) -> tuple[list[str], list[str]]:
    subject = next(subject for subject, metrics in SUBJECTS.items() if metric in metrics)
    part = section(page, f"### {subject}")
    number = SUBJECTS[subject].index(metric)
    return rows(part, "Metric | Type")[number], rows(part, "Metric | Source")[number]


def test_row_of_a_metric_says_all_that_the_catalogue_knows(page: str) -> None:
    metric = next(one for one in METRICS if one.name == "gpuscope_gpu_temperature_celsius")
    meaning, sources = cells(page, metric)
    assert meaning[1:] == ["gauge", "celsius", "`gpu`, `uuid`, `sensor`", metric.help]
    assert sources[1:] == [
        "nvmlDeviceGetTemperatureV; field 82 MEMORY_TEMP",
        "fast",
        "whole GPU",
        "`temperature.gpu`<br>`temperature.memory`",
        "`DEV_GPU_TEMP`<br>`DEV_MEMORY_TEMP`",
        "`DEV_GPU_TEMP_CELSIUS`<br>`DEV_MEMORY_TEMP_CELSIUS`",
        "same",
    ]
    assert "- `sensor` of `gpuscope_gpu_temperature_celsius`: `gpu`, `memory`" in page


@pytest.mark.parametrize("metric", [one for one in METRICS if one.note], ids=lambda metric: metric.name)
def test_every_caveat_is_on_the_page(page: str, metric: Metric) -> None:
    lines = [line for line in page.splitlines() if line.startswith("- `") and line.endswith(metric.note)]
    assert [line for line in lines if f"`{metric.name}`" in line]


def test_every_label_of_a_reading_is_explained() -> None:
    identity = {"gpu", "uuid", "mig_uuid", "gi", "ci", "profile"}
    used = {label for metric in METRICS if not metric.name.endswith("_info") for label in metric.labels}
    assert used - set(LABEL_MEANINGS) == set()
    assert set(LABEL_MEANINGS) - used - identity == set()


def test_links_inside_the_page_lead_somewhere(page: str) -> None:
    anchors = set(re.findall(r'<a id="([^"]+)"', page))
    headings = {re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-") for line in page.splitlines()
                if line.startswith("#")}  # fmt: skip
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) - anchors - headings == set()


def test_other_pages_name_only_metrics_that_exist(page: str) -> None:
    names = {metric.name for metric in (*METRICS, *CLUSTER_METRICS)}
    names |= {f"{one.name}_{part}" for one in CLUSTER_METRICS if one.buckets for part in ("bucket", "sum", "count")}
    known_words = {"gpuscope_generator"}
    for path in [*DOCS.glob("*.md"), DOCS.parent / "README.md"]:
        found = set(re.findall(r"\bgpuscope_[a-z0-9_]+[a-z0-9]\b(?![_{*…]|\.)", path.read_text(encoding="utf-8")))
        assert found - names - known_words == set(), path.name


def test_histograms_tell_their_buckets(page: str) -> None:
    text = section(page, "### training")
    (line,) = [line for line in text.splitlines() if line.startswith("- ") and "infinity" in line]
    assert "`gpuscope_training_recovery_seconds`" in line
    assert ": 1, 2, 5, 10, 20, 30, 60, 120," in line
    assert "| histogram |" in text


def test_tables_are_rectangular(page: str) -> None:
    width = 0
    for line in page.splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        cells = len(re.split(r"(?<!\\)\|", line))
        assert width in {0, cells}, line
        width = cells


def test_dcgm_table_is_sorted_and_finds_a_field_by_its_old_and_its_new_name(page: str) -> None:
    table = rows(section(page, "### DCGM fields"), "DCGM until 4.5")
    keys = [(row[0] or row[1]).strip("`") for row in table]
    assert keys == sorted(keys)
    row = next(row for row in table if row[0] == "`DCGM_FI_DEV_MEMORY_TEMP`")
    assert row[1:] == [
        "`DCGM_FI_DEV_MEMORY_TEMP_CELSIUS`",
        '`gpuscope_gpu_temperature_celsius{sensor="memory"}`',
        "",
        "same",
    ]
    row = next(row for row in table if row[0] == "`DCGM_FI_DEV_FB_USED`")
    assert row[1:] == ["unchanged", "`gpuscope_gpu_memory_used_bytes`", "`gpuscope_mig_memory_used_bytes`", "x1048576"]


# The fields that dcgm-exporter publishes without a configuration of one's own.
DEFAULT_FIELDS = [
    "DEV_SM_CLOCK",
    "DEV_MEM_CLOCK",
    "DEV_MEMORY_TEMP",
    "DEV_GPU_TEMP",
    "DEV_POWER_USAGE",
    "DEV_TOTAL_ENERGY_CONSUMPTION",
    "DEV_PCIE_REPLAY_COUNTER",
    "DEV_GPU_UTIL",
    "DEV_MEM_COPY_UTIL",
    "DEV_ENC_UTIL",
    "DEV_DEC_UTIL",
    "DEV_XID_ERRORS",
    "DEV_FB_FREE",
    "DEV_FB_USED",
    "DEV_FB_RESERVED",
    "DEV_NVLINK_BANDWIDTH_TOTAL",
    "DEV_VGPU_LICENSE_STATUS",
    "DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DEV_CORRECTABLE_REMAPPED_ROWS",
    "DEV_ROW_REMAP_FAILURE",
    "DRIVER_VERSION",
    "PROF_GR_ENGINE_ACTIVE",
    "PROF_PIPE_TENSOR_ACTIVE",
    "PROF_DRAM_ACTIVE",
    "PROF_PCIE_TX_BYTES",
    "PROF_PCIE_RX_BYTES",
]


@pytest.mark.parametrize("field", DEFAULT_FIELDS)
def test_every_default_field_of_dcgm_exporter_has_a_successor(page: str, field: str) -> None:
    table = rows(section(page, "### DCGM fields"), "DCGM until 4.5")
    found = [row for row in table if row[0] == f"`DCGM_FI_{field}`"]
    assert len(found) == 1
    assert "gpuscope_" in found[0][2]
    assert found[0][4]


def test_queries_in_place_of_fields_use_metrics_that_exist() -> None:
    names = {metric.name for metric in METRICS}
    used = [name for _, query in WITHOUT_TWIN for name in re.findall(r"gpuscope_\w+", query)]
    assert set(used) <= names
    labels = [name for _, text in DCGM_LABELS for name in re.findall(r"gpuscope_\w+(?!…)\b", text)]
    assert {name for name in labels if not name.endswith("_")} <= names


def test_nvidia_smi_table_gives_the_conversion(page: str) -> None:
    table = {row[0]: row[1:] for row in rows(section(page, "## Coming from nvidia-smi"), "`nvidia-smi --query-gpu`")}
    assert table["`memory.used`"] == ["`gpuscope_gpu_memory_used_bytes`", "MiB, x1048576"]
    assert table["`utilization.gpu`"] == ["`gpuscope_gpu_utilization_ratio`", "%, /100"]
    assert table["`pstate`"] == ["`gpuscope_gpu_performance_state`", "P0 is 0"]
    assert table["`ecc.mode.current`"][1] == "Active, Enabled, Yes or True is 1"
    assert table["`gpu_recovery_action`"][1] == "the series of that state is 1"
    assert table["`driver_version`"][1] == "a label"
    fields = [field.strip("`") for field in table]
    assert fields == sorted(fields)
