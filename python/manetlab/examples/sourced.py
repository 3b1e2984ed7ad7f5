"""Source routing: the source writes the whole path into a header of its packets."""

import math

from manetlab import Packet, Routing

FIXED_BYTES = 4
ADDRESS_BYTES = 4
LONGEST_BYTES = 65_535
"""The longest IP packet (RFC 791 §3.1)."""


class Sourced(Routing):
    """Sends each packet along a shortest path, which the packet carries.

    The source asks an oracle where all nodes are, so there are no messages. A real protocol would find the
    path by requests, as DSR does.

    Args:
        range_m: Distance up to which two nodes are neighbours.
    """

    def __init__(self, range_m: float = 250.0) -> None:
        self.range_m = range_m

    def handle_outgoing(self, packet: Packet) -> None:
        self.follow(packet, self.path(packet.destination))

    def handle_incoming(self, packet: Packet, previous_hop: int) -> None:
        if packet.destination == self.node:
            self.deliver(packet)
        elif packet.ttl <= 1:
            self.drop(packet, "ttl-expired")
        else:
            packet.ttl -= 1
            self.follow(packet, packet.header)

    def follow(self, packet: Packet, path: list[int]) -> None:
        """Sends a packet to the first node of a path, with the rest of the path in its header."""
        header_bytes = FIXED_BYTES + ADDRESS_BYTES * (len(path) - 1)
        # A path that the longest packet has no room for is of no use.
        fits = packet.bytes - packet.header_bytes + header_bytes <= LONGEST_BYTES
        if not path or not fits:
            self.drop(packet, "no-route")
            return
        next_hop, *rest = path
        packet.put_header(rest, header_bytes)
        self.send(packet, next_hop)

    def path(self, destination: int | None) -> list[int]:
        """The nodes from the next hop to the destination, by breadth-first search; empty without a path."""
        places = [self.position(node) for node in range(self.nodes)]
        previous = {self.node: self.node}
        waiting = [self.node]
        for here in waiting:
            for node, place in enumerate(places):
                if node not in previous and math.dist(places[here], place) <= self.range_m:
                    previous[node] = here
                    waiting.append(node)
        path: list[int] = []
        while destination in previous and destination != self.node:
            path.insert(0, destination)
            destination = previous[destination]
        return path
