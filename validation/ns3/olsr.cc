// What ns-3's OLSR knows of a network at its end, for validation/olsr_ns3.py.
//   olsr SECONDS SEED NODES [A B]...
// Nodes from 0 on, of which A and B hear each other; no packet is lost and none waits. Prints what each node knows,
// a line each, as crates/promises/src/bin/without_radio.rs does:
//   neighbour NODE OTHER, two-hop NODE NEIGHBOUR OTHER, relay NODE OTHER, topology NODE LAST_HOP OTHER,
//   route NODE OTHER HOPS.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/olsr-module.h"

#include <iostream>
#include <set>
#include <string>
#include <utility>

using namespace ns3;

namespace
{

const uint32_t kNetwork = Ipv4Address("10.0.0.0").Get();

/// The node that has this address: the first has 10.0.0.1.
uint32_t
NodeOf(Ipv4Address address)
{
    return address.Get() - kNetwork - 1;
}

/// A channel over which only those hear each other that are linked.
NetDeviceContainer
Link(NodeContainer nodes, const std::set<std::pair<uint32_t, uint32_t>>& links)
{
    Ptr<SimpleChannel> channel = CreateObject<SimpleChannel>();
    channel->SetAttribute("Delay", TimeValue(MilliSeconds(2)));
    const NetDeviceContainer devices = SimpleNetDeviceHelper().Install(nodes, channel);
    const auto device = [&devices](uint32_t at) { return DynamicCast<SimpleNetDevice>(devices.Get(at)); };
    for (uint32_t from = 0; from < nodes.GetN(); ++from)
        for (uint32_t to = 0; to < nodes.GetN(); ++to)
            if (from != to && links.count(std::minmax(from, to)) == 0)
                channel->BlackList(device(from), device(to));
    return devices;
}

void
Tell(uint32_t node, const olsr::RoutingProtocol& routing)
{
    for (const auto& each : routing.GetNeighbors())
        if (each.status == olsr::NeighborTuple::STATUS_SYM)
            std::cout << "neighbour " << node << " " << NodeOf(each.neighborMainAddr) << "\n";
    for (const auto& each : routing.GetTwoHopNeighbors())
        std::cout << "two-hop " << node << " " << NodeOf(each.neighborMainAddr) << " "
                  << NodeOf(each.twoHopNeighborAddr) << "\n";
    for (const Ipv4Address& each : routing.GetMprSet())
        std::cout << "relay " << node << " " << NodeOf(each) << "\n";
    for (const auto& each : routing.GetTopologySet())
        std::cout << "topology " << node << " " << NodeOf(each.lastAddr) << " " << NodeOf(each.destAddr) << "\n";
    for (const auto& each : routing.GetRoutingTableEntries())
        std::cout << "route " << node << " " << NodeOf(each.destAddr) << " " << each.distance << "\n";
}

} // namespace

int
main(int argc, char* argv[])
{
    const auto number = [argv](int at) { return static_cast<uint32_t>(std::stoul(argv[at])); };
    const double seconds = std::stod(argv[1]);
    RngSeedManager::SetRun(number(2));
    NodeContainer nodes(number(3));
    std::set<std::pair<uint32_t, uint32_t>> links;
    for (int at = 4; at + 1 < argc; at += 2)
        links.insert(std::minmax({number(at), number(at + 1)}));
    const NetDeviceContainer devices = Link(nodes, links);
    OlsrHelper olsr;
    InternetStackHelper internet;
    internet.SetRoutingHelper(olsr);
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    for (uint32_t at = 0; at < nodes.GetN(); ++at)
    {
        const Ptr<Ipv4RoutingProtocol> routing = nodes.Get(at)->GetObject<Ipv4>()->GetRoutingProtocol();
        Tell(at, *DynamicCast<olsr::RoutingProtocol>(routing));
    }
    Simulator::Destroy();
}
