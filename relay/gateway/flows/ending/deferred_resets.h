// Advances flows with a deferred reset: one host has reset the connection, while bytes that it sent
// before are in flight to the other host (deferred_reset.h).
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/parts/relay_parts.h"

namespace satrelay::gateway {

class DeferredResets {
 public:
  // `parts` must outlive this object.
  explicit DeferredResets(RelayParts& parts) : parts_(parts) {}

  // Our host has reset its connection. Defers the reset if bytes that the host sent before may
  // still be in flight to the far host. Otherwise returns false, and the caller resets the stream
  // now.
  [[nodiscard]] bool begin_to_peer(Flow& f, Instant now);
  // The far host has reset its connection, and the stream is over. If our host still waits for an
  // answer to its SYN, it gets a SYN-ACK: a far host that has sent bytes has accepted the
  // connection.
  void begin_to_host(Flow& f, Instant now);
  // Call this after anything has happened to a flow that has a deferred reset.
  void go_on(std::uint32_t slot, Instant now);
  // Ends the deferred reset, since a host opens the connection anew.
  void cut_short(Flow& f, Instant now);
  // Ends the deferred reset early, as other flows need the memory or the slot.
  void end(Flow& f, Instant now);

 private:
  void follow_to_peer(std::uint32_t slot, DeferredReset& word, Instant now);
  void follow_to_host(Flow& f, DeferredReset& word, Instant now);
  bool gives_memory_back(const Flow& f, Instant now);

  RelayParts& parts_;
};

}  // namespace satrelay::gateway
