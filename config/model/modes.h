// Which modes of a rule contradict each other.
#pragma once

#include "config/model/schema.h"

namespace satrelay::config {

// Describes the contradiction for the operator; nullptr if there is none.
constexpr const char* contradiction_in(const FlowModes& modes) {
  if (modes.ack == AckMode::kEndToEnd && modes.handshake != HandshakeMode::kRemote) {
    return "needs handshake: remote; otherwise the host learns the round trip of its own LAN and "
           "sends everything again before an acknowledgment can be there";
  }
  return nullptr;
}

}  // namespace satrelay::config
