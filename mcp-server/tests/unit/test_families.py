"""The server's families of tools, and the kinds of source that enable them."""

from mdvec.tools.kinds import KINDS

from mdvec_mcp.server import FAMILIES


def test_the_server_has_every_family_that_a_kind_names():
    assert {kind.family for kind in KINDS.values() if kind.family} == FAMILIES.keys()


def test_rows_without_texts_get_a_tool_of_their_family():
    without_texts = [kind for kind in KINDS.values() if not kind.has_texts]
    assert all(FAMILIES[kind.family].add_row for kind in without_texts)
