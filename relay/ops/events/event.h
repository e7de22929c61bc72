// What an operator should learn without asking: each change of state that matters, of one list. An
// event is a value; EventLog numbers and writes it, and whatever else tells of events takes the
// same ones.
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
  kPeerUnheard,   // not once since the start
  kPeerSilent,
  kPeerLost,  // silent for so long that its flows were reset
  kPeerRestarted,
  kPeerClosed,
  kPeerWrongKey,
  kPeerOtherVersion,
  kPeerUnlikeSecurity,  // one of both encrypts
  kPeerUnlikeWorkers,   // each counts the lanes between both otherwise
  kRateCut,             // less may be sent to it than the link is configured for
  kRateRestored,
  kRateLowered,    // less is sent to it than before, however short
  kCapacityTold,   // of the link to it: by the far gateway
  kCapacityFound,  // and by our rate control
  kKeyChanged,     // one of the session, as they are after so many packets
  // About a port.
  kPortUp,
  kPortDown,
  kPortGone,  // the device itself
  kPortReturned,
  kPortRenamed,
  kPortUnfit,     // it has returned in a state that only a new start can put right
  kFramesMerged,  // dropped: longer than the MTU, and not to be cut
  kFramesMissed,  // lost before the worker could take them
  // About the gateway.
  kMemoryLow,
  kMemoryNormal,
  kTableFull,
  kAddressConflict,
  kStationOnBothSides,
  kAnswersInOtherVlan,  // of servers: such connections are bridged
  kServiceRefuses,      // or does not answer: its SYNs wait for it from now on
  kFamilySilent,        // the same of all servers behind a peer
  kGatewayForged,       // a host of the LAN speaks in a gateway's name
  kSourceForged,        // or in that of a host behind a peer
  kPeerOverreaches,     // opens connections that are not those of hosts behind it
  kSourceUnaccepted,    // the peer takes no connections of some hosts of the LAN
  kClientOfNoPeer,      // has a connection bridged from the WAN
  kAddressBetween,      // the gateways: connections to it are bridged
  kSynFlood,
  kSynFloodOver,
  kWorkerOverloaded,
  kWorkerKeepsUp,
  kWorkerStuck,
  kWorkerReturned,
  // About a way of the records of flows: to their file, to the collector.
  kRecordsFailing,
  kRecordsResumed,
  kRecordsLost,  // though nothing fails: more than it takes
  // What somebody has told it to do.
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
  kEventsLeftOut,  // of one name, more than are kept
  kCount,
};

// Characters of a text of an event on the stats socket, as DPDK cuts longer ones.
inline constexpr std::size_t kMostEventText = 127;
inline constexpr std::size_t kEventKinds = static_cast<std::size_t>(EventKind::kCount);

// What is the same for all events of a kind.
struct EventDescription {
  std::string_view name;  // snake_case, stable; docs/statistics.md lists them
  Severity severity = Severity::kInfo;
  std::string_view text;    // what has happened, to the subject
  std::string_view advice;  // what to do, if there is anything
};
const EventDescription& describe(EventKind kind);

struct Event {
  EventKind kind{};
  std::string subject;  // "peer hub", "port lan", "records file", "gateway"
  std::string detail;   // figures; may be empty
  // Of what somebody has told the gateway: who, and what was set before and is now.
  std::optional<Caller> caller = {};
  std::string before = {};
  std::string after = {};
};

// An event of the stream, which begins with 1 at the start of the gateway.
struct NumberedEvent {
  std::uint64_t number = 0;
  std::uint64_t time_ms = 0;  // since 1970, UTC; the machine's clock may have been set back
  Event event;
  std::string user = {};  // the caller's name, or "panel:NAME"; "": nobody has told it
};

// As relay/ops/events/event_words.h has it.
std::string to_line(const Event& event, std::string_view user = "");
config::LogLevel level_of(Severity severity);

}  // namespace satrelay::ops
