"""A source made by hand, a running server on loopback, and certificates."""

import datetime
import ipaddress
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gpuscope.api import Server, WebSettings
from gpuscope.catalogue import METRICS, by_name
from gpuscope.catalogue.metric import Sample
from gpuscope.faults.fault import Fault
from gpuscope.nvml.identity import DriverStatus, GpuIdentity, MigInstance
from gpuscope.sampling.exposition import Exposition, render_blocks
from gpuscope.sampling.snapshot import GpuStatus, Snapshot

GIB = 1 << 30
NOW = 1_790_000_000.25
DRIVER = DriverStatus(
    ok=True,
    since=NOW - 3600,
    driver_version="580.95.05",
    cuda_version="13.0",
    nvml_version="13.580.95.05",
    kernel_module="open",
)


def gpu_samples(index: int, uuid: str, mig: tuple[MigInstance, ...]) -> tuple[Sample, ...]:
    def gpu(name: str, value: float, *extra: str) -> Sample:
        return Sample(by_name(name), (str(index), uuid, *extra), value)

    samples = [
        gpu("gpuscope_gpu_up", 1.0),
        gpu("gpuscope_gpu_memory_total_bytes", 80.0 * GIB),
        gpu("gpuscope_gpu_memory_used_bytes", 20.0 * GIB),
        gpu("gpuscope_gpu_memory_free_bytes", 59.5 * GIB),
        gpu("gpuscope_gpu_memory_reserved_bytes", 0.5 * GIB),
        gpu("gpuscope_gpu_power_watts", 412.5),
        gpu("gpuscope_gpu_temperature_celsius", 61.0, "gpu"),
        gpu("gpuscope_gpu_temperature_celsius", 74.0, "memory"),
        gpu("gpuscope_gpu_recovery_action", 1.0, "none"),
        gpu("gpuscope_gpu_recovery_action", 0.0, "gpu_reset"),
        gpu("gpuscope_gpu_sm_active_ratio", 0.75),
        gpu("gpuscope_gpu_energy_joules_total", 123456.789),
    ]
    if not mig:
        samples.append(gpu("gpuscope_gpu_utilization_ratio", 0.875))
    for instance in mig:
        labels = (str(index), uuid, instance.uuid, str(instance.gi), instance.profile)
        samples += [
            Sample(by_name("gpuscope_mig_memory_total_bytes"), labels, 10.0 * GIB),
            Sample(by_name("gpuscope_mig_memory_used_bytes"), labels, 4.0 * GIB),
            Sample(by_name("gpuscope_mig_sm_active_ratio"), labels, 0.5),
            Sample(by_name("gpuscope_mig_graphics_active_ratio"), labels, 0.625),
        ]
    return tuple(samples)


def healthy_gpu(index: int, profiles: tuple[str, ...] = (), model: str = "NVIDIA H100 80GB HBM3") -> GpuStatus:
    uuid = f"GPU-{index:08x}-1111-2222-3333-444444444444"
    mig = tuple(
        MigInstance(
            uuid=f"MIG-{index:08x}-{place:04x}-5555-6666-777777777777", index=place, gi=place + 7, ci=0, profile=p
        )
        for place, p in enumerate(profiles)
    )
    return GpuStatus(
        identity=GpuIdentity(
            index=index,
            uuid=uuid,
            model=model,
            arch="hopper",
            pci_bus_id=f"00000000:{index + 1:02X}:00.0",
            minor=str(index),
            serial="1650000000000",
            vbios="96.00.74.00.1A",
            compute_capability="9.0",
            numa_node="0",
        ),
        up=True,
        reason="",
        since=NOW - 3600,
        sampled=NOW - 1,
        mig_enabled=bool(profiles),
        mig=mig,
        samples=gpu_samples(index, uuid, mig),
    )


def lost_gpu(index: int, reason: str = "lost") -> GpuStatus:
    healthy = healthy_gpu(index)
    down = Sample(by_name("gpuscope_gpu_up"), (str(index), healthy.identity.uuid), 0.0)
    return replace(healthy, up=False, reason=reason, since=NOW - 60, sampled=NOW - 65, samples=(down,))


def snapshot_of(*gpus: GpuStatus, **changes: object) -> Snapshot:
    samples = [sample for gpu in gpus for sample in gpu.samples]
    order = [metric for metric in METRICS if any(sample.metric is metric for sample in samples)]
    snapshot = Snapshot(
        version="0.1.0",
        node="node-a",
        created=NOW,
        ready=True,
        driver=DRIVER,
        expected_gpus=len(gpus),
        gpus=gpus,
        node_samples=(),
        faults=(),
        exposition=Exposition([render_blocks(samples)], order),
    )
    return replace(snapshot, **changes)


def xid(code: int = 79, gpu: int = 1, **changes: object) -> Fault:
    fault = Fault(
        kind="xid",
        code=code,
        first=NOW - 62,
        last=NOW - 60,
        source="nvml",
        count=2,
        uuid=healthy_gpu(gpu).identity.uuid,
        pci_bus_id=f"00000000:{gpu + 1:02X}:00.0",
        meaning="GPU has fallen off the bus",
        fault_class="off_bus",
        action="drain_and_reset",
        message="NVRM: Xid (PCI:0000:02:00): 79, GPU has fallen off the bus.",
    )
    return replace(fault, **changes)


@dataclass
class HandMade:
    """A source whose answers a test sets."""

    now: Snapshot
    verdict: tuple[bool, str] = (True, "")
    simulated: str = ""
    broken: bool = False

    def snapshot(self) -> Snapshot:
        if self.broken:
            raise RuntimeError("secret detail of the source")
        return self.now

    def alive(self) -> tuple[bool, str]:
        return self.verdict


@dataclass
class Client:
    """A running server and a way to ask it."""

    server: Server
    source: HandMade
    session: requests.Session

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.server.addresses[0].rpartition(":")
        return host, int(port)

    @property
    def url(self) -> str:
        return f"{self.server.scheme}://{self.server.addresses[0]}"

    def get(self, path: str, **options: object) -> requests.Response:
        return self.session.get(self.url + path, timeout=30, **options)

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=30)


@pytest.fixture
def mixed_fleet() -> Snapshot:
    """One whole GPU, one lost, one with two MIG instances; two faults."""
    gpus = (healthy_gpu(0), lost_gpu(1), healthy_gpu(2, ("3g.40gb", "1g.10gb")))
    return snapshot_of(*gpus, faults=(xid(), xid(94, gpu=2, gi=7, ci=0, first=NOW - 10, last=NOW - 5)))


@pytest.fixture
def source(mixed_fleet: Snapshot) -> HandMade:
    return HandMade(mixed_fleet)


@pytest.fixture
def serve(source: HandMade) -> Iterator[Callable[..., Client]]:
    """Starts servers on free loopback ports and stops them at the end."""
    running: list[Client] = []

    def start(**settings: object) -> Client:
        server = Server(source, WebSettings(**{"listen_addresses": ("127.0.0.1:0",), **settings}))
        server.bind()
        server.start()
        session = requests.Session()
        session.trust_env = False
        running.append(Client(server, source, session))
        return running[-1]

    yield start
    for client in running:
        client.session.close()
        client.server.stop()


@pytest.fixture
def client(serve: Callable[..., Client]) -> Client:
    return serve()


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Waits for an event with a generous deadline."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)


@pytest.fixture(name="wait_for")
def wait_for_fixture() -> Callable[[Callable[[], bool], str], None]:
    return wait_for


@dataclass
class Authority:
    """A certificate authority that writes PEM files."""

    folder: Path
    name: str

    def __post_init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, self.name)])
        self.cert = self._sign(subject, self.key.public_key(), ca=True, names=())
        self.file = self.folder / f"{self.name}.pem"
        self.file.write_bytes(self.cert.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, *names: str, password: bytes | None = None) -> tuple[Path, Path]:
        """Writes certificate and key for DNS names, addresses, mails or URIs; gives their paths."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        cert = self._sign(subject, key.public_key(), ca=False, names=names)
        cert_file, key_file = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        cert_file.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
        cipher = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, cipher)
        key_file.write_bytes(pem)
        return cert_file, key_file

    def _sign(self, subject: x509.Name, key: ec.EllipticCurvePublicKey, *, ca: bool, names: tuple[str, ...]):
        start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject if ca else self.cert.subject)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(start + datetime.timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), False)
        return builder.sign(self.key, hashes.SHA256())


def _general(name: str) -> x509.GeneralName:
    if "://" in name:
        return x509.UniformResourceIdentifier(name)
    if "@" in name:
        return x509.RFC822Name(name)
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "authority")


@dataclass
class Builders:
    """Parts of snapshots, for tests that set their own."""

    healthy_gpu = staticmethod(healthy_gpu)
    lost_gpu = staticmethod(lost_gpu)
    snapshot_of = staticmethod(snapshot_of)
    xid = staticmethod(xid)
    driver = DRIVER
    now = NOW


@pytest.fixture
def build() -> Builders:
    return Builders()
