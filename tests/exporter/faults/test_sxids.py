from gpuscope.faults.sxids import ACTIONS, SEVERITIES, SxidCatalogue


def test_rows_use_the_words_and_say_where_they_come_from() -> None:
    rows = SxidCatalogue.load().rows()
    assert len(rows) > 90
    for row in rows:
        assert row.severity in SEVERITIES
        assert row.action in ACTIONS
        assert row.source, row
        assert row.date, row
        assert 10_000 <= row.code < 30_000


def test_nothing_harmless_asks_for_a_reset_of_the_fabric() -> None:
    for row in SxidCatalogue.load().rows():
        if row.severity == "always_fatal":
            assert row.action in {"reboot_node", "reset_fabric"}, row
        if row.action == "ignore":
            assert row.severity == "nonfatal", row


def test_a_code_without_a_row_is_unknown_and_never_automatic() -> None:
    row = SxidCatalogue.load().entry(31_000)
    assert (row.severity, row.action) == ("unknown", "contact_support")
