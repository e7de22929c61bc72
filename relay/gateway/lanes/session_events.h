// Polls the events of the sessions, and passes each event to the parts that it concerns.
#pragma once

#include <cstddef>

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/parts/gateway_parts.h"
#include "relay/gateway/peers/lan_questions.h"

namespace satrelay::gateway {

class SessionEvents {
 public:
  explicit SessionEvents(GatewayParts& parts) : parts_(parts) {}

  // Handles waiting events of the session. The maximum number of events grows with `packets`, the
  // number of packets that have arrived. Returns whether any event was handled.
  bool take(LaneId id, std::size_t packets, Instant now);
  bool take(LaneId id, Instant now) { return take(id, 1, now); }

 private:
  void handle(LaneId id, const stp::Event& event, Instant now);
  void handle_opened(LaneId id, stp::StreamId stream, Instant now);
  // Answers the peer's question whether this LAN has an address.
  void answer(LaneId id, const LanQuestions::Question& asked, Instant now);

  GatewayParts& parts_;
};

}  // namespace satrelay::gateway
