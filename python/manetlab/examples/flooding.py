"""Flooding: every node broadcasts every data packet once."""

from manetlab import Packet, Routing


class Flooding(Routing):
    """Sends every packet to everybody.

    Args:
        ttl: Time to live of a source's packets, in hops.
        jitter_s: A node holds a packet for a time from 0 to this before it rebroadcasts it.
    """

    def __init__(self, ttl: int = 64, jitter_s: float = 0.01) -> None:
        self.ttl = ttl
        self.jitter_s = jitter_s
        self.seen: set[int | None] = set()

    def handle_outgoing(self, packet: Packet) -> None:
        self.seen.add(packet.number)
        packet.ttl = self.ttl
        self.broadcast(packet)

    def handle_incoming(self, packet: Packet, previous_hop: int) -> None:
        if packet.number in self.seen:
            self.drop(packet, "already-seen")
            return
        self.seen.add(packet.number)
        if packet.destination == self.node:
            self.deliver(packet)
        elif packet.ttl <= 1:
            self.drop(packet, "ttl-expired")
        else:
            packet.ttl -= 1
            self.broadcast(packet, delay=self.random.uniform(0.0, self.jitter_s))
