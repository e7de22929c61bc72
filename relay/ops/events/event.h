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
  kPeerReturned,  // heard again after kPeerSilent
  kPeerUnheard,   // never heard since the start
  kPeerSilent,
  kPeerLost,  // silent so long that its flows were reset
  kPeerRestarted,
  kPeerClosed,
  kPeerWrongKey,
  kPeerOtherVersion,
  kPeerUnlikeSecurity,  // only one of both ends encrypts
  kPeerUnlikeWorkers,   // the two ends disagree about the number of lanes
  kRateCut,             // its send rate stays below that of the link
  kRateRestored,
  kRateLowered,    // its send rate was cut, if only for a moment
  kCapacityTold,   // the far gateway announced the capacity of the link to it
  kCapacityFound,  // our rate control found that capacity
  kKeyChanged,     // a session has a new key, as it does after so many packets
  // About a port.
  kPortUp,
  kPortDown,
  kPortGone,  // the device has vanished
  kPortReturned,
  kPortRenamed,
  kPortUnfit,     // it is back in a state that only a new start can correct
  kFramesMerged,  // dropped: longer than the MTU, and impossible to cut
  kFramesMissed,  // lost before the worker could take them
  // About the gateway.
  kMemoryLow,
  kMemoryNormal,
  kTableFull,
  kAddressConflict,
  kStationOnBothSides,
  kAnswersInOtherVlan,  // by servers: their connections are bridged
  kServiceRefuses,      // or does not answer: clients now wait for its answer
  kFamilySilent,        // the same for all servers behind a peer, by IPv4 or IPv6
  kGatewayForged,       // a host of the LAN speaks in a gateway's name
  kSourceForged,        // a host of the LAN uses an address behind a peer
  kPeerOverreaches,     // it opens connections for clients that are not behind it
  kSourceUnaccepted,    // the peer accepts no connections of some hosts of the LAN
  kClientOfNoPeer,      // its connection came over the WAN, and was bridged
  kAddressBetween,      // a server between the gateways: connections to it are bridged
  kSynFlood,
  kSynFloodOver,
  kWorkerOverloaded,
  kWorkerKeepsUp,
  kWorkerStuck,
  kWorkerReturned,
  // About an output of the records of flows: the file, or the collector.
  kRecordsFailing,
  kRecordsResumed,
  kRecordsLost,  // without a failure: too many for the output
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

// Most characters of a text of an event on the stats socket: DPDK cuts longer ones.
inline constexpr std::size_t kMostEventText = 127;
inline constexpr std::size_t kEventKinds = static_cast<std::size_t>(EventKind::kCount);

// The parts that all events of a kind have in common.
struct EventDescription {
  std::string_view name;  // snake_case, stable; docs/statistics.md lists them
  Severity severity = Severity::kInfo;
  std::string_view text;    // the change, with the subject before it
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
