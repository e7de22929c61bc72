// Connections in TIME-WAIT that are no longer flows, and the answers to their late segments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/flows/table/time_waits.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

class LateSegments {
 public:
  // `parts` must outlive it. `most`: connections.
  LateSegments(RelayParts& parts, std::uint32_t most, HashKey secret)
      : parts_(parts), time_waits_(most, secret) {}

  const TimeWaits& connections() const { return time_waits_; }
  void add(const FlowKey& key, const tcp::TimeWait& state, Instant now);
  // Ends the TIME-WAIT of the connection; no effect if it has none.
  void end(const FlowKey& key, Instant now);
  // Ends it if `syn` may start the 4-tuple anew. False if the connection still needs it.
  bool make_way(const FlowKey& key, const wire::TcpHeader& syn, Instant now);
  // A segment of a connection that is in TIME-WAIT.
  void handle_segment(const FlowKey& key, const Frame& frame, const wire::TcpHeader& header,
                      std::size_t payload, Instant now);
  void handle_timeout(Instant now);
  Instant next_timeout() const { return time_waits_.next_expiry(); }

 private:
  RelayParts& parts_;
  TimeWaits time_waits_;
};

}  // namespace satrelay::gateway
