// Runs an ns-3 wireless scenario from a movement file of setdest and a list of flows.
//   ns3 MOVEMENT FLOWS NODES STOP SEED
// A line of FLOWS is `tcp SRC DST START WINDOW BYTES` or `cbr SRC DST START INTERVAL BYTES`: seconds, segments, bytes.
// Prints `frames F tcp_bps T cbr_delivered D`: frames sent, what TCP receivers got from the first flow's start on, and
// the fraction of CBR packets that arrived.
//
// Set as benches/ns2.tcl sets ns-2: ranges of 250 m and 550 m, 802.11b with data at 2 Mb/s and all else at 1 Mb/s, RTS
// for every unicast frame, queues of 50 packets and nothing above them, AODV that learns of broken links from the MAC,
// Reno with a window and without delayed ACKs.

#include "ns3/aodv-module.h"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr double kSendDbm = 24.5;       // 0.2818 W
constexpr double kReceiveDbm = -64.375; // 3.652e-10 W, which arrives at 250 m
constexpr double kSenseDbm = -78.072;   // 1.559e-11 W, which arrives at 550 m

struct Flow
{
    std::string kind;
    uint32_t src;
    uint32_t dst;
    double start;
    double windowOrInterval;
    uint32_t bytes;
};

/// All flows of a run, and what is read from them at its end.
struct Traffic
{
    double firstTcpStart = std::numeric_limits<double>::infinity();
    std::vector<Ptr<PacketSink>> tcpSinks;
    std::vector<std::pair<Ptr<UdpClient>, uint32_t>> cbrSources;
    std::vector<Ptr<UdpServer>> cbrSinks;
};

uint64_t g_frames = 0;

void
CountFrame(Ptr<const Packet>, double)
{
    ++g_frames;
}

void
SetDefaults()
{
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(0));
    Config::SetDefault("ns3::WifiRemoteStationManager::NonUnicastMode", StringValue("DsssRate1Mbps"));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("50p"));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpLinuxReno"));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
}

NetDeviceContainer
InstallRadios(const NodeContainer& nodes)
{
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel",
                               "Frequency",
                               DoubleValue(914e6),
                               "HeightAboveZ",
                               DoubleValue(1.5));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(kSendDbm));
    phy.Set("TxPowerEnd", DoubleValue(kSendDbm));
    // Between these two powers a signal occupies the medium and is not decoded.
    phy.Set("RxSensitivity", DoubleValue(kSenseDbm));
    phy.Set("CcaEdThreshold", DoubleValue(kSenseDbm));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(kReceiveDbm));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue("DsssRate2Mbps"),
                                 "ControlMode",
                                 StringValue("DsssRate1Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    return wifi.Install(phy, mac, nodes);
}

Ipv4InterfaceContainer
InstallInternet(const NodeContainer& nodes, const NetDeviceContainer& devices)
{
    AodvHelper aodv;
    aodv.Set("EnableHello", BooleanValue(false));
    InternetStackHelper internet;
    internet.SetRoutingHelper(aodv);
    internet.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    return interfaces;
}

void
AddTcp(const Flow& flow, const NodeContainer& nodes, Ipv4Address to, uint16_t port, Traffic& traffic)
{
    // A send buffer of so many segments keeps no more than those on the way.
    const auto window = static_cast<uint32_t>(flow.windowOrInterval) * flow.bytes;
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(flow.bytes));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to, port));
    bulk.SetAttribute("SendSize", UintegerValue(flow.bytes));
    bulk.Install(nodes.Get(flow.src)).Start(Seconds(flow.start));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    traffic.tcpSinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(flow.dst)).Get(0)));
    traffic.firstTcpStart = std::min(traffic.firstTcpStart, flow.start);
}

void
AddCbr(const Flow& flow, const NodeContainer& nodes, Ipv4Address to, uint16_t port, Traffic& traffic)
{
    UdpClientHelper client(to, port);
    client.SetAttribute("MaxPackets", UintegerValue(std::numeric_limits<uint32_t>::max()));
    client.SetAttribute("Interval", TimeValue(Seconds(flow.windowOrInterval)));
    client.SetAttribute("PacketSize", UintegerValue(flow.bytes));
    ApplicationContainer source = client.Install(nodes.Get(flow.src));
    source.Start(Seconds(flow.start));
    traffic.cbrSources.emplace_back(DynamicCast<UdpClient>(source.Get(0)), flow.bytes);
    UdpServerHelper server(port);
    traffic.cbrSinks.push_back(DynamicCast<UdpServer>(server.Install(nodes.Get(flow.dst)).Get(0)));
}

void
Report(const Traffic& traffic, double stop)
{
    double tcpBytes = 0;
    for (const auto& sink : traffic.tcpSinks)
    {
        tcpBytes += static_cast<double>(sink->GetTotalRx());
    }
    double sent = 0;
    for (const auto& [source, bytes] : traffic.cbrSources)
    {
        sent += static_cast<double>(source->GetTotalTx()) / bytes;
    }
    double received = 0;
    for (const auto& sink : traffic.cbrSinks)
    {
        received += static_cast<double>(sink->GetReceived());
    }
    const double tcpSeconds = stop - traffic.firstTcpStart;
    std::cout << "frames " << g_frames << " tcp_bps " << (tcpSeconds > 0 ? tcpBytes * 8 / tcpSeconds : 0)
              << " cbr_delivered " << (sent > 0 ? received / sent : 0) << "\n";
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 6)
    {
        std::cerr << "usage: ns3 MOVEMENT FLOWS NODES STOP SEED\n";
        return 2;
    }
    const uint32_t count = std::stoul(argv[3]);
    const double stop = std::stod(argv[4]);
    RngSeedManager::SetSeed(std::stoul(argv[5]));
    SetDefaults();

    NodeContainer nodes;
    nodes.Create(count);
    Ns2MobilityHelper(argv[1]).Install();
    const NetDeviceContainer devices = InstallRadios(nodes);
    const Ipv4InterfaceContainer interfaces = InstallInternet(nodes, devices);

    Traffic traffic;
    std::ifstream file(argv[2]);
    if (!file)
    {
        std::cerr << argv[2] << ": cannot be read\n";
        return 2;
    }
    std::string line;
    for (uint16_t number = 1; std::getline(file, line); ++number)
    {
        Flow flow;
        std::istringstream words(line);
        words >> flow.kind >> flow.src >> flow.dst >> flow.start >> flow.windowOrInterval >> flow.bytes;
        const bool isTcp = flow.kind == "tcp";
        if (!words || (!isTcp && flow.kind != "cbr") || std::max(flow.src, flow.dst) >= count)
        {
            std::cerr << argv[2] << ":" << number << ": this is no flow between two of " << count
                      << " nodes: " << line << "\n";
            return 2;
        }
        const uint16_t port = 1000 + number;
        (isTcp ? AddTcp : AddCbr)(flow, nodes, interfaces.GetAddress(flow.dst), port, traffic);
    }
    Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Phys/*/PhyTxBegin",
                                  MakeCallback(&CountFrame));
    Simulator::Stop(Seconds(stop));
    Simulator::Run();
    Report(traffic, stop);
    Simulator::Destroy();
    return 0;
}
