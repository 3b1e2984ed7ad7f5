// What ns-3 makes of frames and noise, for validation/ns3_radio.py.
//   radio frames MODE BYTES FRAMES SEED OFFSET_US INTERFERER_DBM POWER_DBM...
// Prints for each power which share of FRAMES frames of BYTES (MAC header and FCS included) a receiver decodes. With
// an OFFSET_US of 0 or more a frame like it from another station follows so much later, at INTERFERER_DBM.
//   radio saturated MODE CONTROL_MODE BYTES SENDERS POWER_DBM SEED SECONDS
// Prints the payload of BYTES that a receiver gets in a second, in bit/s, from one station that always has a frame, or
// from two that do not hear each other.
//
// Preamble detection is off: with its defaults, 4 dB and -82 dBm, all rates of 802.11b would reach equally far.

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr double kSilentDb = 300.0;
constexpr double kSecondsBefore = 1.0;

bool
IsDsss(const std::string& mode)
{
    return mode.rfind("Dsss", 0) == 0;
}

Ptr<YansWifiChannel>
MakeChannel(Ptr<MatrixPropagationLossModel> losses)
{
    losses->SetDefaultLoss(kSilentDb);
    Ptr<YansWifiChannel> channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationLossModel(losses);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    return channel;
}

/// A station's physical layer and nothing above it.
Ptr<YansWifiPhy>
MakePhy(const std::string& mode, Ptr<YansWifiChannel> channel, Ptr<MobilityModel> place)
{
    Ptr<Node> node = CreateObject<Node>();
    Ptr<WifiNetDevice> device = CreateObject<WifiNetDevice>();
    node->AddDevice(device);
    Ptr<YansWifiPhy> phy = CreateObject<YansWifiPhy>();
    phy->SetInterferenceHelper(CreateObject<InterferenceHelper>());
    phy->SetErrorRateModel(CreateObject<NistErrorRateModel>());
    phy->SetDevice(device);
    device->SetPhy(phy);
    phy->SetMobility(place);
    phy->SetChannel(channel);
    phy->SetTxPowerStart(0.0);
    phy->SetTxPowerEnd(0.0);
    // Noise decides, and nothing else.
    phy->SetRxSensitivity(-120.0);
    const bool dsss = IsDsss(mode);
    phy->SetOperatingChannel(dsss ? WifiPhy::ChannelTuple{1, 22, WIFI_PHY_BAND_2_4GHZ, 0}
                                  : WifiPhy::ChannelTuple{36, 20, WIFI_PHY_BAND_5GHZ, 0});
    phy->ConfigureStandard(dsss ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211a);
    return phy;
}

void
SendFrame(Ptr<YansWifiPhy> phy, std::string mode, uint32_t bytes, Mac48Address to)
{
    WifiMacHeader header(WIFI_MAC_DATA);
    header.SetAddr1(to);
    header.SetAddr2(Mac48Address("00:00:00:00:00:09"));
    Ptr<Packet> packet = Create<Packet>(bytes - header.GetSize() - 4);
    Ptr<WifiPsdu> psdu = Create<WifiPsdu>(packet, header);
    WifiTxVector vector(WifiMode(mode), 0, WIFI_PREAMBLE_LONG, 800, 1, 1, 0, IsDsss(mode) ? 22 : 20, false);
    phy->Send(psdu, vector);
}

const Mac48Address kWanted("00:00:00:00:00:01");
const Mac48Address kOther("00:00:00:00:00:02");
uint64_t g_decoded = 0;

void
Decode(Ptr<const WifiPsdu> psdu, RxSignalInfo, WifiTxVector, std::vector<bool>)
{
    g_decoded += psdu->GetAddr1() == kWanted ? 1 : 0;
}

double
ShareDecoded(const std::string& mode, uint32_t bytes, uint32_t frames, double offsetUs, double otherDbm, double dbm)
{
    Ptr<MatrixPropagationLossModel> losses = CreateObject<MatrixPropagationLossModel>();
    Ptr<YansWifiChannel> channel = MakeChannel(losses);
    std::vector<Ptr<MobilityModel>> places;
    std::vector<Ptr<YansWifiPhy>> phys;
    for (int station = 0; station < 3; ++station)
    {
        places.push_back(CreateObject<ConstantPositionMobilityModel>());
        phys.push_back(MakePhy(mode, channel, places.back()));
    }
    losses->SetLoss(places[0], places[2], -dbm);
    losses->SetLoss(places[1], places[2], -otherDbm);
    phys[2]->SetReceiveOkCallback(MakeCallback(&Decode));
    g_decoded = 0;
    for (uint32_t frame = 0; frame < frames; ++frame)
    {
        const Time at = MilliSeconds(50) * (frame + 1);
        Simulator::Schedule(at, &SendFrame, phys[0], mode, bytes, kWanted);
        if (offsetUs >= 0.0)
        {
            const Time later = at + NanoSeconds(static_cast<int64_t>(offsetUs * 1e3));
            Simulator::Schedule(later, &SendFrame, phys[1], mode, bytes, kOther);
        }
    }
    Simulator::Run();
    Simulator::Destroy();
    return static_cast<double>(g_decoded) / frames;
}

uint64_t g_bytes = 0;

void
Count(Ptr<const Packet> packet, const Address&)
{
    g_bytes += Simulator::Now() >= Seconds(kSecondsBefore) ? packet->GetSize() : 0;
}

double
Saturated(const std::string& mode, const std::string& control, uint32_t bytes, uint32_t senders, double dbm, double end)
{
    NodeContainer nodes(1 + senders);
    MobilityHelper().Install(nodes);
    Ptr<MatrixPropagationLossModel> losses = CreateObject<MatrixPropagationLossModel>();
    const auto place = [&nodes](uint32_t at) { return nodes.Get(at)->GetObject<MobilityModel>(); };
    for (uint32_t sender = 1; sender <= senders; ++sender)
        losses->SetLoss(place(0), place(sender), -dbm);
    YansWifiPhyHelper phy;
    phy.SetChannel(MakeChannel(losses));
    phy.DisablePreambleDetectionModel();
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
    phy.Set("TxPowerStart", DoubleValue(0.0));
    phy.Set("TxPowerEnd", DoubleValue(0.0));
    WifiHelper wifi;
    wifi.SetStandard(IsDsss(mode) ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211g);
    const StringValue data(mode), rest(control);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", data, "ControlMode", rest);
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    const NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    PacketSocketHelper().Install(nodes);
    for (uint32_t at = 0; at < devices.GetN(); ++at)
    {
        Ptr<WifiNetDevice> device = DynamicCast<WifiNetDevice>(devices.Get(at));
        if (!IsDsss(mode)) // Without an access point nobody tells that all know short slots.
            device->GetPhy()->SetSlot(MicroSeconds(9));
        PacketSocketAddress to;
        to.SetSingleDevice(device->GetIfIndex());
        to.SetPhysicalAddress(at == 0 ? Address(Mac48Address::GetBroadcast()) : devices.Get(0)->GetAddress());
        to.SetProtocol(1);
        if (at == 0)
        {
            Ptr<PacketSocketServer> server = CreateObject<PacketSocketServer>();
            server->SetLocal(to);
            server->TraceConnectWithoutContext("Rx", MakeCallback(&Count));
            nodes.Get(at)->AddApplication(server);
            continue;
        }
        Ptr<PacketSocketClient> client = CreateObject<PacketSocketClient>();
        client->SetRemote(to);
        client->SetAttribute("PacketSize", UintegerValue(bytes));
        client->SetAttribute("MaxPackets", UintegerValue(0));
        client->SetAttribute("Interval", TimeValue(MicroSeconds(200)));
        nodes.Get(at)->AddApplication(client);
    }
    Simulator::Stop(Seconds(end));
    Simulator::Run();
    Simulator::Destroy();
    return 8.0 * g_bytes / (end - kSecondsBefore);
}

} // namespace

int
main(int argc, char* argv[])
{
    const std::vector<std::string> words(argv + 1, argv + argc);
    const bool asksFrames = words.at(0) == "frames";
    RngSeedManager::SetRun(std::stoul(words.at(asksFrames ? 4 : 6)));
    const auto number = [&words](size_t at) { return std::stod(words.at(at)); };
    for (size_t at = 7; at < words.size(); ++at)
    {
        std::cout << (asksFrames ? ShareDecoded(words[1], number(2), number(3), number(5), number(6), number(at))
                                 : Saturated(words[1], words[2], number(3), number(4), number(5), number(7)))
                  << "\n";
    }
}
