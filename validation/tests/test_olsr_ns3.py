"""How OLSR's sets are compared with ns-3's: what is held against what, which differences are explained."""

from __future__ import annotations

import pytest

from validation.olsr_ns3 import Known, Network, Tally, choices, drawn, expected, table_of, told

SQUARE = Network(4, frozenset({(0, 1), (0, 2), (1, 3), (2, 3)}))
"""0 and 3 reach each other over 1 or 2, and so do 1 and 2 over 0 or 3."""
LOW, HIGH = frozenset({(0, 1), (1, 0), (2, 0), (3, 1)}), frozenset({(0, 2), (1, 3), (2, 3), (3, 2)})
"""Relays by the lowest and by the highest number."""


def known(network: Network, relays: frozenset[tuple[int, ...]]) -> Known:
    neighbours, two_hop, routes = expected(network)
    return Known(neighbours, two_hop, relays, told(relays, network.nodes), routes)


def test_the_lines_of_a_program_are_read_by_their_kind() -> None:
    found = Known.read("neighbour 0 1\ntwo-hop 0 1 2\nrelay 0 1\ntopology 0 2 1\nroute 0 2 2\nroute 0 1 1\n")
    assert found.neighbours == {(0, 1)} and found.two_hop == {(0, 1, 2)} and found.relays == {(0, 1)}
    assert found.topology == {(0, 2, 1)} and found.routes == {(0, 2, 2), (0, 1, 1)}
    assert found.relays_of(0) == {1} and found.relays_of(1) == set()


def test_networks_are_connected_and_of_all_sizes() -> None:
    networks = [drawn(number) for number in range(60)]
    assert all(len(each.hops(0)) == each.nodes - 1 for each in networks)
    assert {each.nodes for each in networks} >= {5, 25} and drawn(7) == drawn(7)


def test_what_settled_nodes_know_follows_from_the_links() -> None:
    chain = Network(3, frozenset({(0, 1), (1, 2)}))
    neighbours, two_hop, routes = expected(chain)
    assert neighbours == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert two_hop == {(0, 1, 2), (2, 1, 0)}
    assert routes == {(0, 1, 1), (0, 2, 2), (1, 0, 1), (1, 2, 1), (2, 1, 1), (2, 0, 2)}
    assert told(frozenset({(0, 1), (2, 1)}), 3) == {(0, 1, 0), (0, 1, 2), (2, 1, 0), (2, 1, 2)}


def test_relays_of_equal_rank_are_a_tie() -> None:
    tally = Tally()
    tally.add(0, SQUARE, known(SQUARE, LOW), known(SQUARE, HIGH))
    assert not tally.unexplained
    assert tally.count["relays, a tie"] == 4 and tally.count["relays, the same"] == 0
    assert tally.count["topology, networks with the same relays"] == 0
    tally.add(1, SQUARE, known(SQUARE, LOW), known(SQUARE, LOW))
    assert tally.count["relays, the same"] == 4 and tally.count["topology, the same there"] == 1
    assert "4 nodes chose others of equal rank" in table_of(tally).to_markdown()


def test_the_degree_decides_among_those_that_reach_equally_many() -> None:
    # 0 needs 1, the only way to 4, which reaches 5 too. It reaches 6 over 2 or over 3, and 3 has 5 as well.
    near = {0: {1, 2, 3}, 1: {0, 4, 5}, 2: {0, 6}, 3: {0, 5, 6}, 4: {1}, 5: {1, 3}, 6: {2, 3}}
    assert set(choices(near, 0, by_degree=True)) == {frozenset({1, 3})}
    assert set(choices(near, 0, by_degree=False)) == {frozenset({1, 2}), frozenset({1, 3})}
    links = frozenset((one, other) for one, others in near.items() for other in others if one < other)
    network = Network(7, links)
    ours = frozenset(
        (node, relay) for node in near for relay in min(choices(near, node, by_degree=True), key=sorted)
    )
    theirs = ours - {(0, 3)} | {(0, 2)}
    tally = Tally()
    tally.add(0, network, known(network, ours), known(network, theirs))
    assert tally.count["relays, without the degree"] == 1 and not tally.unexplained


@pytest.mark.parametrize("kind", ["neighbours", "two_hop", "topology", "routes", "relays"])
@pytest.mark.parametrize("is_ours", [True, False])
def test_an_entry_too_few_or_too_many_is_not_explained(kind: str, is_ours: bool) -> None:
    right = known(SQUARE, LOW)
    lines = getattr(right, kind)
    extra = (*min(lines)[:-1], 9)
    for wrong_lines in (lines - {min(lines)}, lines | {extra}):
        wrong = Known(**{**vars(right), kind: frozenset(wrong_lines)})
        tally = Tally()
        tally.add(0, SQUARE, *((wrong, right) if is_ours else (right, wrong)))
        assert tally.unexplained
