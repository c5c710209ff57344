from gpuscope_generator.view.extent import Need, column_widths, panel_px, text_px, title_px


def test_wide_letters_take_more_room_than_narrow_ones() -> None:
    assert text_px("illicit") < text_px("summary") < text_px("WARNING")
    assert text_px("") == 0


def test_a_panel_has_its_part_of_the_board_and_its_title_less() -> None:
    assert panel_px(24) > 2 * panel_px(12) > 4 * panel_px(6) > 0
    assert 0 < title_px(3) < panel_px(3)


def test_columns_that_grow_share_what_is_left_and_the_others_get_what_they_want() -> None:
    assert column_widths([Need(50, 80), Need(100, 120, grows=True), Need(60, 90)], 1000) == [80, None, 90]


def test_where_room_is_scarce_columns_shrink_alike_but_never_below_what_they_need() -> None:
    needs = [Need(50, 80), Need(100, 120, grows=True), Need(60, 90)]
    assert column_widths(needs, 260) == [65, None, 75]
    assert column_widths(needs, 100) == [50, None, 60]


def test_the_last_column_grows_where_none_does() -> None:
    assert column_widths([Need(50, 80), Need(60, 90)], 1000) == [80, None]
    assert column_widths([Need(50, 50)], 1000) == [None]
