// Which switches of a rule go together.
#pragma once

#include "config/model/schema.h"

namespace satrelay::config {

// nullptr: nothing is wrong with them; else what, for the operator.
constexpr const char* contradiction_in(const FlowModes& modes) {
  if (modes.ack == AckMode::kEndToEnd && modes.handshake != HandshakeMode::kRemote) {
    return "needs handshake: remote; otherwise the host learns the round trip of its own LAN and "
           "sends everything again before an acknowledgment can be there";
  }
  return nullptr;
}

}  // namespace satrelay::config
