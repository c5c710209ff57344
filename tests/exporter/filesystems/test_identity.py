import pytest

from gpuscope.filesystems.identity import filesystem_name, telling_options
from gpuscope.filesystems.mountinfo import Mount


def mount(kind: str, source: str, mountpoint: str = "/x", options: str = "rw") -> Mount:
    return Mount("0:1", b"/", mountpoint.encode(), tuple(options.split(",")), kind, source.encode())


@pytest.mark.parametrize(
    ("kind", "source", "name"),
    [
        ("lustre", "10.0.0.1@tcp:/lustre01", "lustre01"),
        ("lustre", "10.0.0.1@o2ib,10.0.1.1@tcp:10.0.0.2@o2ib:/scratch/project/a", "scratch"),
        ("lustre", "fs-0123.fsx.eu-west-1.amazonaws.com@tcp:/abcdef", "abcdef"),
        ("lustre", "odd", "odd"),
        ("lustre", "", ""),
        ("nfs", "nas:/export/data", "nas:/export/data"),
        ("nfs4", "[fd00::1]:/", "[fd00::1]:/"),
        ("wekafs", "10.0.0.1,10.0.0.2/default", "default"),
        ("wekafs", "default", "default"),
        ("gpfs", "/dev/gpfs0", "gpfs0"),
        ("gpfs", "gpfs0", "gpfs0"),
        ("fuse.juicefs", "JuiceFS:data", "JuiceFS:data"),
        ("xfs", "/dev/md0", "/x"),
        ("zfs", "tank/scratch", "/x"),
    ],
)
def test_name_is_the_one_that_users_know(kind: str, source: str, name: str) -> None:
    assert filesystem_name(mount(kind, source)) == name


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("rw,cfgFile=/etc/beegfs/beegfs-client.conf", "beegfs"),
        ("rw,cfgFile=/etc/beegfs/scratch.conf", "scratch"),
        ("rw,cfgFile=/etc/beegfs/beegfs-client-work.conf", "work"),
        ("rw", "beegfs"),
    ],
)
def test_beegfs_has_its_name_in_its_configuration(options: str, name: str) -> None:
    assert filesystem_name(mount("beegfs", "beegfs_nodev", options=options)) == name


def test_options_tell_behavior_and_no_secrets() -> None:
    options = (
        "rw,noatime,vers=4.1,rsize=1048576,hard,proto=tcp,timeo=600,retrans=2,clientaddr=10.1.1.1,addr=10.0.0.9,"
        "username=me,password=secret,credentials=/etc/x"
    )
    assert (
        telling_options(mount("nfs4", "nas:/x", options=options))
        == "rw,vers=4.1,rsize=1048576,hard,proto=tcp,timeo=600,retrans=2"
    )


@pytest.mark.parametrize("options", ["ro,relatime,rw", "rw,ro,flock"])
def test_read_only_of_mount_or_file_system_wins(options: str) -> None:
    one = mount("lustre", "m@tcp:/fs", options=options)
    assert one.read_only
    assert "rw" not in telling_options(one).split(",")
