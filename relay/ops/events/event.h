// Events: the changes of state that an operator should learn of without asking, in one list. An
// event is a value. EventLog numbers and writes it, and other outputs get the same events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/model/schema.h"
#include "relay/ops/control/caller.h"
#include "relay/ops/events/severity.h"

namespace satrelay::ops {

enum class EventKind : std::uint8_t {
  // About a peer.
  kPeerAlive,
  kPeerReturned,  // its packets arrive again after kPeerSilent
  kPeerUnheard,   // no packet of it has arrived since the start
  kPeerSilent,
  kPeerLost,  // silent so long that its flows were reset
  kPeerRestarted,
  kPeerClosed,
  kPeerWrongKey,
  kPeerOtherVersion,
  kPeerUnlikeSecurity,  // only one of both ends encrypts
  kPeerUnlikeWorkers,   // the two ends disagree about the number of lanes
  kRateCut,             // the send rate to the peer stays below the rate of the link
  kRateRestored,
  kRateLowered,    // the send rate to the peer was cut, if only for a moment
  kCapacityTold,   // the far gateway announced the capacity of the link towards it
  kCapacityFound,  // our rate control found that capacity
  kKeyChanged,     // a session has a new key, as happens after a certain number of packets
  // About a port.
  kPortUp,
  kPortDown,
  kPortGone,  // the device has vanished
  kPortReturned,
  kPortRenamed,
  kPortUnfit,     // the device is back, in a state that only a restart of the gateway can correct
  kFramesMerged,  // frames were dropped: longer than the MTU, and impossible to cut
  kFramesMissed,  // frames were lost before the worker could take them
  // About the gateway.
  kMemoryLow,
  kMemoryNormal,
  kTableFull,
  kAddressConflict,
  kStationOnBothSides,
  // Servers answer in a VLAN other than the one of the SYN: their connections are bridged.
  kAnswersInOtherVlan,
  kServiceRefuses,    // a far service refuses, or does not answer: clients now wait for its answer
  kFamilySilent,      // the same for all servers behind a peer that are reached by IPv4, or by IPv6
  kGatewayForged,     // a host of the LAN uses a gateway's address
  kSourceForged,      // a host of the LAN uses an address behind a peer
  kPeerOverreaches,   // a peer opens connections for clients that are not behind that peer
  kSourceUnaccepted,  // the peer accepts no connections of some hosts of the LAN
  // A connection from the WAN was bridged, since no peer's prefixes contain its client.
  kClientOfNoPeer,
  kAddressBetween,  // a server between the gateways: connections to it are bridged
  kSynFlood,
  kSynFloodOver,
  kWorkerOverloaded,
  kWorkerKeepsUp,
  kWorkerStuck,
  kWorkerReturned,
  // About an output of the records of flows: the file, or the collector.
  kRecordsFailing,
  kRecordsResumed,
  kRecordsLost,  // the output has not failed, but is too slow
  // Commands to the gateway.
  kReloadDone,
  kReloadRefused,
  kCapacitySet,
  kPeerRateSet,
  kRuleSet,
  kClassSet,
  kBypassSet,
  kDrainBegun,
  kDrainOver,
  kCaptureBegun,
  kCaptureEnded,
  kEventsLeftOut,  // more events of one name than are kept
  kCount,
};

// The largest length of an event's text on the stats socket, in characters. DPDK cuts longer texts.
inline constexpr std::size_t kMostEventText = 127;
inline constexpr std::size_t kEventKinds = static_cast<std::size_t>(EventKind::kCount);

// The parts that all events of a kind have in common.
struct EventDescription {
  std::string_view name;  // snake_case, stable; docs/statistics.md lists them
  Severity severity = Severity::kInfo;
  std::string_view text;    // the change, which is written after the subject
  std::string_view advice;  // for the operator; may be empty
};
const EventDescription& describe(EventKind kind);

struct Event {
  EventKind kind{};
  std::string subject;  // "peer hub", "port lan", "records file", "gateway"
  std::string detail;   // figures; may be empty
  // For a command: the user that gave it, and the setting before and after it.
  std::optional<Caller> caller = {};
  std::string before = {};
  std::string after = {};
};

// An event with its number. The first one after a start of the gateway is 1.
struct NumberedEvent {
  std::uint64_t number = 0;
  std::uint64_t time_ms = 0;  // since 1970, UTC; the machine's clock may have been set back
  Event event;
  std::string user = {};  // the caller's name, or "panel:NAME"; "": not a command
};

// Formats the event as event_words.h does.
std::string to_line(const Event& event, std::string_view user = "");
config::LogLevel level_of(Severity severity);

}  // namespace satrelay::ops
