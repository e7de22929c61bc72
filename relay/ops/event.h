// What an operator should learn without asking: each change of state that matters, of one list. An
// event is a value; EventLog writes it, and whatever else tells of events takes the same ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/schema.h"

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
  kRateLowered,  // less is sent to it than before, however short
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
  kGatewayForged,    // a host of the LAN speaks in a gateway's name
  kSourceForged,     // or in that of a host behind a peer
  kPeerOverreaches,  // opens connections that are not those of hosts behind it
  kWorkerStuck,
  kWorkerReturned,
  kCount,
};

inline constexpr std::size_t kEventKinds = static_cast<std::size_t>(EventKind::kCount);

enum class Severity : std::uint8_t { kError, kWarning, kInfo };

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
  std::string subject;  // "peer hub", "port lan", "gateway"
  std::string detail;   // figures; may be empty
};

// "SUBJECT: TEXT (DETAIL); ADVICE [NAME]", without what is empty.
std::string to_line(const Event& event);
config::LogLevel level_of(Severity severity);

}  // namespace satrelay::ops
