"""Names of users from a passwd file."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gpuscope.attribution.users import UserNames


def test_a_name_or_the_number(tmp_path: Path) -> None:
    passwd = tmp_path / "passwd"
    passwd.write_text(
        "root:x:0:0:root:/:/bin/bash\n# a comment\n+::::::\nshort:x:5\nalice:x:1000:1000::/:/bin/bash\n"
        "alias:x:1000:1000::/:/bin/false\nodd:x:-1:0::/:/\nodd:x:\u0663:0::/:/\n:x:6:0::/:/\n"
    )
    users = UserNames(passwd)
    assert [users.name(uid) for uid in (0, 1000, 3, 5, 6)] == ["root", "alice", "3", "5", "6"]


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    passwd = tmp_path / "passwd"
    users = UserNames(passwd)
    assert users.name(7) == "7"
    passwd.write_text("bob:x:7:7::/:/\n")
    assert users.name(7) == "bob"
    passwd.write_text("robert:x:7:7::/:/\n")
    assert users.name(7) == "robert"
    passwd.unlink()
    assert users.name(7) == "7"


def test_a_folder_in_its_place_leaves_numbers(tmp_path: Path) -> None:
    assert UserNames(tmp_path).name(7) == "7"


@given(st.binary(max_size=200), st.integers(0, 1 << 32))
def test_any_content_has_an_answer(content: bytes, uid: int) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        assert UserNames(Path(file.name)).name(uid)
