"""Greedy geographic forwarding: each hop goes to the neighbour that is nearest to the destination."""

import math

from manetlab import Packet, Routing

BEACON_BYTES = 12
"""Two coordinates of four bytes each, and the node's address."""


class Greedy(Routing):
    """Forwards by position, without routes.

    Every node tells its neighbours by beacons where it is (Karp and Kung, MobiCom 2000, section 2.1). Where
    the destination is, an oracle says. A packet that no neighbour brings nearer is dropped: there is no way
    around a hole.

    Args:
        beacon_interval_s: Time between a node's beacons; each interval varies by up to half of it either way.
        neighbour_lifetime_s: How long after its last beacon a node is taken for a neighbour.
    """

    def __init__(self, beacon_interval_s: float = 1.0, neighbour_lifetime_s: float = 4.5) -> None:
        self.interval_s = beacon_interval_s
        self.lifetime_s = neighbour_lifetime_s
        # Where each neighbour said that it was, and until when that counts.
        self.neighbours: dict[int, tuple[tuple[float, float], float]] = {}
        self.next_beacon = math.inf

    def handle_start(self) -> None:
        self.next_beacon = self.now + self.random.uniform(0.0, self.interval_s)

    def next_timeout(self) -> float:
        return self.next_beacon

    def handle_timeout(self) -> None:
        self.broadcast(self.make_packet(self.position(), payload_bytes=BEACON_BYTES))
        self.next_beacon = self.now + self.interval_s * self.random.uniform(0.5, 1.5)

    def handle_outgoing(self, packet: Packet) -> None:
        self.forward(packet)

    def handle_incoming(self, packet: Packet, previous_hop: int) -> None:
        if not packet.is_data:
            self.neighbours[previous_hop] = (packet.payload, self.now + self.lifetime_s)
            self.consume(packet)
        elif packet.destination == self.node:
            self.deliver(packet)
        elif packet.ttl <= 1:
            self.drop(packet, "ttl-expired")
        else:
            packet.ttl -= 1
            self.forward(packet)

    def handle_link_failure(self, packet: Packet, next_hop: int) -> None:
        self.neighbours.pop(next_hop, None)
        self.forward(packet)

    def forward(self, packet: Packet) -> None:
        """Sends a packet to the neighbour nearest to its destination, if that is nearer than this node."""
        goal = self.position(packet.destination)
        best, least = None, math.dist(self.position(), goal)
        for neighbour, (place, until) in self.neighbours.items():
            if until > self.now and math.dist(place, goal) < least:
                best, least = neighbour, math.dist(place, goal)
        if best is None:
            self.drop(packet, "local-maximum")
        else:
            self.send(packet, best)
