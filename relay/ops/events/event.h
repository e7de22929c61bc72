// Events are the changes of state that an operator should learn of without asking. This file lists
// all kinds. EventLog gives each event a number and writes it to the log. Other outputs get the
// same events.
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
  kPeerReturned,  // packets arrive from the peer again after kPeerSilent
  kPeerUnheard,   // no packet has arrived from the peer since the start
  kPeerSilent,
  kPeerLost,  // the peer was silent for so long that its flows were reset
  kPeerRestarted,
  kPeerClosed,
  kPeerWrongKey,
  kPeerOtherVersion,
  kPeerUnlikeSecurity,  // one of the two ends encrypts, the other does not
  kPeerUnlikeWorkers,   // the two ends disagree about the number of workers, and thus of lanes
  kRateCut,             // the send rate to the peer stays below the rate of the link
  kRateRestored,
  kRateLowered,    // the send rate to the peer was cut, even if only briefly
  kCapacityTold,   // the peer announced the capacity of the link in the direction to the peer
  kCapacityFound,  // our rate control found the capacity of the link in the direction to the peer
  kKeyChanged,     // a session replaced its key, after it had used the key for many packets
  // About a port.
  kPortUp,
  kPortDown,
  kPortGone,  // the device no longer exists
  kPortReturned,
  kPortRenamed,
  kPortUnfit,  // The device is back, but in a state that only a restart of the gateway can correct.
  // Frames were dropped because they are longer than the MTU and cannot be segmented.
  kFramesMerged,
  kFramesMissed,  // frames were lost before a worker received them
  // About the gateway.
  kMemoryLow,
  kMemoryNormal,
  kTableFull,
  kAddressConflict,
  kStationOnBothSides,
  // Servers answer a SYN in a VLAN other than the VLAN of the SYN. Their connections are bridged.
  kAnswersInOtherVlan,
  // A service behind a peer refuses connections or does not answer. From now on, a client of this
  // service gets its SYN-ACK only after the service has answered.
  kServiceRefuses,
  // Like kServiceRefuses, but for all IPv4 servers or all IPv6 servers behind a peer.
  kFamilySilent,
  kGatewayForged,     // a host of the LAN uses the address of a gateway
  kSourceForged,      // a host of the LAN uses a source address that is behind a peer
  kPeerOverreaches,   // a peer opens connections for clients that are not behind it
  kSourceUnaccepted,  // the peer accepts no connections from some hosts of the LAN
  // A connection from the WAN was bridged, since its client is in no peer's prefixes.
  kClientOfNoPeer,
  kAddressBetween,  // a server is located between the gateways; connections to it are bridged
  kSynFlood,
  kSynFloodOver,
  kWorkerOverloaded,
  kWorkerKeepsUp,
  kWorkerStuck,
  kWorkerReturned,
  // About an output of the flow records: the file, or the IPFIX collector.
  kRecordsFailing,
  kRecordsResumed,
  kRecordsLost,  // the output works, but so slowly that records are lost
  // About anything that the judgements of relay/doctor find.
  kFault,
  kFaultOver,
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
  kEventsLeftOut,  // more events of one kind occurred than are kept
  kCount,
};

// The largest length of an event's text on the stats socket, in characters. DPDK cuts longer texts.
inline constexpr std::size_t kMostEventText = 127;
inline constexpr std::size_t kEventKinds = static_cast<std::size_t>(EventKind::kCount);

// The parts that all events of a kind have in common.
struct EventDescription {
  // Name in snake_case, which never changes. docs/statistics.md lists all names.
  std::string_view name;
  Severity severity = Severity::kInfo;
  std::string_view text;    // text after the subject, which says what has changed
  std::string_view advice;  // what the operator should usually do; may be empty
};
const EventDescription& describe(EventKind kind);

// A finding of relay/doctor, in an event of the kind kFault or kFaultOver.
struct Fault {
  // The name of the check, a literal. With the subject of the event it identifies the fault.
  std::string_view check;
  Severity severity = Severity::kWarning;
  std::string cause;
  std::string cure;       // replaces the advice of the kind
  std::string_view page;  // the place in the documents, a literal
};

struct Event {
  EventKind kind{};
  std::string subject;  // what the event is about: "peer hub", "port lan", "gateway"
  std::string detail;   // numbers that describe the event; may be empty
  // For a command: the user that gave it, and the setting before and after it.
  std::optional<Caller> caller = {};
  std::string before = {};
  std::string after = {};
  // A literal that replaces the advice of the kind, if the cure depends on the cause.
  std::string_view advice = {};
  std::optional<Fault> fault = {};
};
std::string_view advice_of(const Event& event);
Severity severity_of(const Event& event);

// An event with its number. The first event after a start of the gateway has the number 1.
struct NumberedEvent {
  std::uint64_t number = 0;
  // Milliseconds since 1970, UTC. May decrease from event to event if the machine's clock is set
  // back.
  std::uint64_t time_ms = 0;
  Event event;
  // Name of the caller, or "panel:NAME". "" if the event is not about a command.
  std::string user = {};
};

// Formats the event as one line, in the form that event_words.h describes.
std::string to_line(const Event& event, std::string_view user = "");
config::LogLevel level_of(Severity severity);

}  // namespace satrelay::ops
