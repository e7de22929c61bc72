#include "relay/satpanel/snmp/mib.h"

#include "pep/stp/counters.h"
#include "relay/dpdk/device/port_stats.h"
#include "relay/gateway/uplink/class_counters.h"
#include "relay/metrics/reply_fields.h"
#include "relay/ops/events/severity.h"

namespace satrelay::panel {
namespace {

using enum Syntax;

constexpr std::uint64_t kKilo = 1000;  // bit/s to kbit/s
constexpr std::uint64_t kKibi = 1024;  // bytes to KiB

constexpr std::array<std::string_view, 2> kUpWords = {"up", "down"};

constexpr MibObject kScalars[] = {
    {1, "satrelayGatewayState", kInteger, "", "whether the gateway answers", 1, kUpWords},
    {2, "satrelayGatewayName", kText, "", "the name that satpanel gives the gateway"},
    {3, "satrelayUpTime", kTicks, "uptime_ms",
     "time since the gateway started; no counter begins before"},
    {4, "satrelaySnapshotAge", kGauge, "age_ms",
     "time since the last report of the worker, in milliseconds; above 2000 it is stuck"},
    {5, "satrelayNewFlows", kInteger, "new_flows",
     "whether new connections are relayed, or bridged as commanded", 1, metrics::kAdmissionWords},
    {6, "satrelayFlows", kGauge, "flows", "relayed connections"},
    {7, "satrelayHalfOpenFlows", kGauge, "half_open", "flows with an incomplete handshake"},
    {8, "satrelayTimeWait", kGauge, "time_wait", "closed connections kept to answer late segments"},
    {9, "satrelayMemoryLimit", kGauge, "arena_bytes", "limits.memory, in KiB", kKibi},
    {10, "satrelayMemoryUsed", kGauge, "arena_used_bytes",
     "memory that stored bytes and the reserves of flows take, in KiB", kKibi},
    {11, "satrelayPeers", kGauge, "", "peers"},
    {12, "satrelayPeersAlive", kGauge, "", "peers to which new connections are relayed"},
    {13, "satrelayAlarms", kGauge, "", "rows of satrelayAlarmTable"},
};

using Port = dpdk::PortStats;
constexpr MibObject kPortColumns[] = {
    {2, "satrelayPortDevice", kText, "device", "the device, as configured"},
    {3, "satrelayPortMac", kText, "mac", "the MAC address of the port"},
    {4, "satrelayPortLink", kInteger, "link", "the state of the link; gone: the device is gone", 1,
     metrics::kPortLinkWords},
    {5, "satrelayPortSpeed", kGauge, "link_mbit_per_s",
     "speed of the port's link in Mbit/s; 0 if the device does not report it"},
    {6, "satrelayPortMtu", kGauge, "mtu_bytes", "largest IP packet, in bytes"},
};
constexpr MibObject kPortCounters[] = {
    counter(7, "satrelayPortInFrames", field_of(&Port::rx_frames)),
    counter(8, "satrelayPortInBytes", field_of(&Port::rx_bytes)),
    counter(9, "satrelayPortInLarge", field_of(&Port::rx_large)),
    counter(10, "satrelayPortOutFrames", field_of(&Port::tx_frames)),
    counter(11, "satrelayPortOutBytes", field_of(&Port::tx_bytes)),
    counter(12, "satrelayPortOutLarge", field_of(&Port::tx_large)),
    counter(13, "satrelayPortInMissed", field_of(&Port::rx_missed)),
    counter(14, "satrelayPortInErrors", field_of(&Port::rx_errors)),
    counter(15, "satrelayPortInNoBuffer", field_of(&Port::rx_no_buffer)),
    counter(16, "satrelayPortInMerged", field_of(&Port::rx_merged)),
    counter(17, "satrelayPortOutErrors", field_of(&Port::tx_errors)),
    counter(18, "satrelayPortOutUnsent", field_of(&Port::tx_unsent)),
    counter(19, "satrelayPortOutDown", field_of(&Port::tx_down)),
};

using Peer = stp::Counters;
constexpr MibObject kPeerColumns[] = {
    {2, "satrelayPeerAddress", kText, "address", "the address of the peer, as configured"},
    {3, "satrelayPeerLink", kText, "link", "the link by which the peer is reached"},
    {4, "satrelayPeerState", kInteger, "state",
     "the state of the peer; new connections are relayed if it is alive", 1,
     metrics::kPeerStateWords},
    {5, "satrelayPeerNewFlows", kInteger, "new_flows", "whether the peer accepts new flows", 1,
     metrics::kAdmissionWords},
    {6, "satrelayPeerSendRate", kGauge, "send_rate_bps",
     "highest rate that is sent to the peer, in kbit/s", kKilo},
    {7, "satrelayPeerAnnouncedRate", kGauge, "announced_bps",
     "capacity of the link to the peer, as the peer announced it, in kbit/s; 0: not announced",
     kKilo},
    {8, "satrelayPeerPathMtu", kGauge, "path_mtu_bytes",
     "largest IP packet that is known to cross the path, in bytes"},
    {9, "satrelayPeerRoundTrip", kGauge, "rtt_us", "round trip of the link, in microseconds"},
    {10, "satrelayPeerLoss", kGauge, "loss_ppm",
     "share of lost packets, over about the last 10,000, in millionths"},
    {11, "satrelayPeerStreams", kGauge, "streams", "open streams"},
    {12, "satrelayPeerPacketsInFlight", kGauge, "packets_in_flight", "packets not reported on yet"},
    {13, "satrelayPeerStored", kGauge, "stored_bytes",
     "bytes received from the peer and not yet passed on, in KiB", kKibi},
};
constexpr MibObject kPeerCounters[] = {
    counter(14, "satrelayPeerInPackets", field_of(&Peer::packets_in)),
    counter(15, "satrelayPeerOutPackets", field_of(&Peer::packets_out)),
    counter(16, "satrelayPeerInBytes", field_of(&Peer::bytes_in)),
    counter(17, "satrelayPeerOutBytes", field_of(&Peer::bytes_out)),
    counter(18, "satrelayPeerLostPackets", field_of(&Peer::packets_lost)),
    counter(19, "satrelayPeerRetransmittedBytes", field_of(&Peer::retransmitted_bytes)),
    counter(20, "satrelayPeerStreamInBytes", field_of(&Peer::stream_bytes_in)),
    counter(21, "satrelayPeerStreamOutBytes", field_of(&Peer::stream_bytes_out)),
    counter(22, "satrelayPeerStreamsOpened", field_of(&Peer::streams_opened)),
    counter(23, "satrelayPeerStreamsAccepted", field_of(&Peer::streams_accepted)),
    counter(24, "satrelayPeerStreamsRefused", field_of(&Peer::streams_refused)),
    counter(25, "satrelayPeerNotAuthentic", field_of(&Peer::not_authentic)),
    counter(26, "satrelayPeerRestarts", field_of(&Peer::peer_restarts)),
};

constexpr MibObject kLinkColumns[] = {
    {2, "satrelayLinkPeers", kGauge, "peers", "peers that are reached over the link"},
    {3, "satrelayLinkPeersAlive", kGauge, "alive", "peers on the link that are alive"},
    {4, "satrelayLinkRoundTrip", kGauge, "rtt_us",
     "the longest round trip of these peers, in microseconds; 0: not known"},
    {5, "satrelayLinkLoss", kGauge, "loss_ppm",
     "the largest share of lost packets of these peers, in millionths"},
    {6, "satrelayLinkStreams", kGauge, "streams", "open streams of all these peers"},
    {7, "satrelayLinkPacketsInFlight", kGauge, "packets_in_flight",
     "packets not reported on yet, of all these peers"},
};

using Class = gateway::ClassUse;
constexpr MibObject kClassColumns[] = {
    {2, "satrelayClassWeight", kGauge, "weight", "weight of the class, 0 for none"},
    {3, "satrelayClassGuaranteed", kGauge, "guaranteed_bps",
     "guaranteed rate of the class in kbit/s, 0 for none", kKilo},
    {4, "satrelayClassMaximum", kGauge, "maximum_bps",
     "maximum rate of the class in kbit/s, 0 for none", kKilo},
    {5, "satrelayClassHosts", kGauge, "hosts", "hosts with bytes or frames to send"},
    {6, "satrelayClassHeldFrames", kGauge, "held_frames", "bridged frames that wait"},
    {7, "satrelayClassHeldBytes", kGauge, "held_bytes", "bridged bytes that wait"},
};
constexpr MibObject kClassCounters[] = {
    counter(8, "satrelayClassRelayedBytes", field_of(&Class::relayed_bytes)),
    counter(9, "satrelayClassBridgedFrames", field_of(&Class::bridged_frames)),
    counter(10, "satrelayClassBridgedBytes", field_of(&Class::bridged_bytes)),
    counter(11, "satrelayClassWaitedFrames", field_of(&Class::waited_frames)),
    counter(12, "satrelayClassDroppedFrames", field_of(&Class::dropped_frames)),
};

constexpr MibObject kAlarmColumns[] = {
    {2, "satrelayAlarmName", kText, "name", "name of the event, as docs/statistics.md lists them"},
    {3, "satrelayAlarmSeverity", kInteger, "severity", "severity of the event", 1,
     ops::kSeverityWords},
    {4, "satrelayAlarmSubject", kText, "subject",
     "subject of the event: peer hub, port lan, gateway"},
    {5, "satrelayAlarmText", kText, "text", "what has happened to the subject"},
    {6, "satrelayAlarmDetail", kText, "detail", "figures"},
    {7, "satrelayAlarmAdvice", kText, "advice", "what to do"},
    {8, "satrelayAlarmSince", kDateAndTime, "since_ms", "when the alarm began, UTC"},
};

constexpr MibObject kEvent[] = {
    {1, "satrelayEventName", kText, "name", "name of the event"},
    {2, "satrelayEventSeverity", kInteger, "severity", "severity of the event", 1,
     ops::kSeverityWords},
    {3, "satrelayEventSubject", kText, "subject", "subject of the event"},
    {4, "satrelayEventText", kText, "text", "what has happened to the subject"},
    {5, "satrelayEventDetail", kText, "detail", "figures"},
    {6, "satrelayEventAdvice", kText, "advice", "what to do"},
    {7, "satrelayEventTime", kDateAndTime, "told_ms", "when the event was found, UTC"},
    {8, "satrelayEventNumber", kGauge, "number",
     "number in the stream of events; 0: found by satpanel itself"},
    {9, "satrelayEventAlarm", kGauge, "index", "index of the alarm in satrelayAlarmTable"},
};

}  // namespace

const std::span<const MibObject> kGatewayScalars = kScalars;
const MibTable kPortTable{2, "satrelayPort", kPortColumns, kPortCounters};
const MibTable kPeerTable{3, "satrelayPeer", kPeerColumns, kPeerCounters, "counters"};
const MibTable kLinkTable{4, "satrelayLink", kLinkColumns};
const MibTable kClassTable{5, "satrelayClass", kClassColumns, kClassCounters};
const MibTable kAlarmTable{6, "satrelayAlarm", kAlarmColumns};
const std::span<const MibObject> kEventObjects = kEvent;

}  // namespace satrelay::panel
