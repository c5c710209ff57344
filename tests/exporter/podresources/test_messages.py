import subprocess
import sys
from pathlib import Path

from gpuscope.podresources import ListPodResourcesResponse

FOLDER = Path(__file__).parents[3] / "exporter/gpuscope/podresources"


def test_the_compiled_schema_is_that_of_the_proto(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I."]
    command += [f"--descriptor_set_out={tmp_path / 'podresources.binpb'}", "podresources.proto"]
    subprocess.run(command, cwd=FOLDER, check=True, timeout=60)
    name = "podresources.binpb"
    assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), f"run `make generate`: {name} is stale"


def test_what_a_newer_kubelet_adds_is_skipped() -> None:
    # Pod "a" with field 99, a string; containers, CPUs (field 3) and NUMA topology as kubelet sends them.
    text = b"\n\x0b\n\x01a\x9a\x06\x05later"
    (pod,) = ListPodResourcesResponse.FromString(text).pod_resources
    assert (pod.name, list(pod.containers)) == ("a", [])
