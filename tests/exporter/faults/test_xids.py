from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.errors import ConfigError
from gpuscope.faults.xids import ACTIONS, CLASSES, XidCatalogue


def load(tmp_path: Path, text: str | bytes) -> XidCatalogue:
    file = tmp_path / "own.csv"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return XidCatalogue.load(file)


def codes(*parts: int | range) -> set[int]:
    return {code for part in parts for code in (part if isinstance(part, range) else [part])}


def test_every_code_that_nvidia_documents_is_in_the_catalogue() -> None:
    documented = codes(
        8, 11, 13, 25, 31, 32, range(37, 42), range(43, 47), 48, 54, 60, range(62, 65), range(66, 73), range(74, 81),
        range(82, 87), 88, 89, range(92, 108), 109, 110, range(119, 122), range(126, 138), range(139, 152),
        range(154, 173),
    )  # fmt: skip
    assert {row.code for row in XidCatalogue.load().rows()} == documented


def test_rows_say_where_they_come_from_and_what_they_mean() -> None:
    for row in XidCatalogue.load().rows():
        assert row.source, row
        assert row.date, row
        assert len(row.meaning) > 8, row
        assert row.fault_class in CLASSES
        assert row.action in ACTIONS


def test_what_others_get_wrong_is_right() -> None:
    catalogue = XidCatalogue.load()
    expected = {
        43: ("teardown", "ignore"),
        45: ("teardown", "ignore"),
        63: ("mem_remap", "ignore"),
        64: ("mem_remap_failed", "drain_and_reset"),
        79: ("off_bus", "reboot_node"),
        92: ("mem_corrected", "ignore"),
        94: ("mem_contained", "restart_app"),
        95: ("mem_uncontained", "drain_and_reset"),
        109: ("gpu_fw", "reset_gpu"),
        121: ("info", "ignore"),
        142: ("unknown", "contact_support"),
        145: ("nvlink", "follow_154"),
        154: ("recovery", "follow_154"),
        162: ("power", "ignore"),
        163: ("power", "contact_support"),
    }
    assert {code: (catalogue.entry(code).fault_class, catalogue.entry(code).action) for code in expected} == expected


def test_a_code_without_a_row_is_unknown_and_never_automatic() -> None:
    row = XidCatalogue.load().entry(999)
    assert (row.fault_class, row.action, row.critical) == ("unknown", "contact_support", False)


def test_nothing_of_the_application_is_critical() -> None:
    catalogue = XidCatalogue.load()
    assert {48, 62, 64, 74, 79, 94, 95, 119, 120, 140} <= set(catalogue.critical_codes)
    assert all(
        catalogue.entry(code).fault_class not in {"app", "teardown", "info"} for code in catalogue.critical_codes
    )


def test_own_rows_change_cells_and_add_codes(tmp_path: Path) -> None:
    shipped = XidCatalogue.load()
    own = load(tmp_path, "code,action,critical,meaning\n79,drain,,\n31,,true,\n\n901,,,Burn-in\n")
    assert own.entry(79).action == "drain"
    assert own.entry(79).meaning == shipped.entry(79).meaning
    assert own.entry(79).critical
    assert own.entry(31).critical
    assert own.critical_codes == tuple(sorted({31, *shipped.critical_codes}))
    assert (own.entry(901).meaning, own.entry(901).fault_class, own.entry(901).action) == (
        "Burn-in",
        "unknown",
        "contact_support",
    )
    assert {row.code: row for row in own.rows() if row.code not in {31, 79, 901}} == {
        row.code: row for row in shipped.rows() if row.code not in {31, 79}
    }


def test_what_a_spreadsheet_writes_is_read(tmp_path: Path) -> None:
    own = load(
        tmp_path,
        b'\xef\xbb\xbf"code","critical","note"\r\n" 31 ","TRUE","two\r\nlines, and a \xe2\x80\xa8break"\r\n,,\r\n',
    )
    assert own.entry(31).critical
    assert own.entry(31).note == "two\r\nlines, and a \u2028break"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: code: the column is missing"),
        ("meaning\nx\n", ":1: code: the column is missing"),
        ("code,severity\n1,2\n", ":1: severity: unknown column; known: code, meaning,"),
        ("code,,note\n", ":1: empty name: unknown column"),
        ("code,note,code\n", ":1: code: the column stands twice"),
        ("code\n79\n\n7 9\n", ":4: code: '7 9' is not a whole number from 1 to 99999"),
        ("code\n0\n", ":2: code: '0' is not"),
        ("code\n-1\n", ":2: code: '-1' is not"),
        ("code\n100000\n", ":2: code: '100000' is not"),
        ("code\n²\n", ":2: code: '²' is not"),
        ("code,note\n,x\n", ":2: code: '' is not"),
        ("code\n" + "9" * 5000, ":2: code: '9999"),
        ("code\n79\n80\n79\n", ":4: code: 79 stands twice"),
        ("code,class\n79,broken\n", ":2: class: 'broken' is not one of app, config,"),
        ("code,action\n79,explode\n", ":2: action: 'explode' is not one of check_mechanicals,"),
        ("code,critical\n79,yes\n", ":2: critical: 'yes' is neither true nor false"),
        ("code,critical\n79,false\n", ":2: critical: 79 must be true: by its 0 the rules see that errors are counted"),
        ("code,recovery\n79,1\n", ":2: recovery: '1' is neither true nor false"),
        ("code,class,action\n79,app\n", ":2: action: 2 cells where the header has 3"),
        ("code,class\n79,app,ignore\n", ":2: class: 3 cells where the header has 2"),
        ('code,note\n79,"open\n', ":2: not CSV: "),
        ('code,note\n79,"a"b\n', ":2: not CSV: "),
        ("code,note\n79," + "x" * 200_000, ":2: not CSV: field larger than field limit"),
        (b"code,note\n79,\xff\xfe\n", ":2: not UTF-8 text (byte 0xff)"),
        ("code\n79\n".encode("utf-16"), ":1: not UTF-8 text"),
    ],
)
def test_a_mistake_is_named_with_file_line_and_column(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'own.csv'}{message}")
    assert len(str(caught.value)) < 400


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.csv: cannot be read: No such file"):
        XidCatalogue.load(tmp_path / "nowhere.csv")
    with pytest.raises(ConfigError, match="cannot be read: Is not a regular file"):
        XidCatalogue.load(tmp_path)


@given(
    st.binary()
    | st.text().map(lambda text: f"code,{text}".encode())
    | st.text().map(lambda text: f"code\n{text}".encode())
)
def test_any_file_is_a_catalogue_or_one_clear_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        rows, complaint = load(folder, data).rows(), ""
    except ConfigError as error:
        rows, complaint = (), str(error)
    assert rows or complaint.startswith(f"{folder}/own.csv:")


def test_a_file_that_is_far_too_large_is_not_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ConfigError, match=r"huge\.csv: is larger than 4 MiB"):
        XidCatalogue.load(huge)
