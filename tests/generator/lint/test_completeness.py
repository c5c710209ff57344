"""Floors that fit onto each other: what one reads, another makes."""

import re

import pytest
from tests.generator.lint.artefacts import NAME, boards, contract, documents, nouns, recorded, rules
from tests.generator.lint.parsed import selectors
from tests.generator.lint.test_boards import links
from tests.generator.lint.test_queries import queries

from gpuscope_generator.view import Noun

each_board = pytest.mark.parametrize("noun", nouns())


def test_there_is_a_board_for_every_noun() -> None:
    assert set(boards()) == {noun.value for noun in Noun}


def test_declared_series_are_recorded() -> None:
    assert {name for name in contract() if ":" in name} - recorded() == set()


def test_rules_read_what_other_rules_record() -> None:
    unknown = {
        (path, rule["record"], found.name)
        for path, rules_of_file in rules().items()
        for rule in rules_of_file
        for found in selectors(rule["expr"])
        if NAME.fullmatch(found.name) and found.name not in recorded()
    }
    assert unknown == set()


@each_board
def test_panels_read_what_rules_record(noun: str) -> None:
    unknown = {
        (panel.key, found.name)
        for _, panel, query in queries(noun)
        for found in selectors(query.expression.text)
        if NAME.fullmatch(found.name) and found.name not in recorded()
    }
    assert unknown == set()


@each_board
def test_variables_read_what_rules_record(noun: str) -> None:
    names = {
        found.name
        for variable in documents()[noun]["templating"]["list"]
        if variable["type"] == "query"
        for text in re.findall(r"label_values\((.+), \w+\)", variable["query"]["query"])
        for found in selectors(text)
    }
    assert names - recorded() == set()


@each_board
def test_links_lead_to_boards_that_exist(noun: str) -> None:
    targets = {url.split("/d/gpuscope-")[1].split("/")[0] for _, url in links(noun) if "/d/gpuscope-" in url}
    assert targets <= set(boards())
