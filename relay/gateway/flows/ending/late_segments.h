// Keeps connections in TIME-WAIT that are no longer flows, and answers their late segments.
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
  // `parts` must outlive this object. Keeps at most `most` connections.
  LateSegments(RelayParts& parts, std::uint32_t most, HashKey secret)
      : parts_(parts), time_waits_(most, secret) {}

  const TimeWaits& connections() const { return time_waits_; }
  void add(const FlowKey& key, const tcp::TimeWait& state, Instant now);
  // Ends the TIME-WAIT of the connection, if it has one.
  void end(const FlowKey& key, Instant now);
  // Ends the TIME-WAIT of the connection if `syn` may open the connection anew (RFC 6191).
  // Otherwise returns false.
  bool make_way(const FlowKey& key, const wire::TcpHeader& syn, Instant now);
  // Handles a segment of a connection that is in TIME-WAIT.
  void handle_segment(const FlowKey& key, const Frame& frame, const wire::TcpHeader& header,
                      std::size_t payload, Instant now);
  void handle_timeout(Instant now);
  Instant next_timeout() const { return time_waits_.next_expiry(); }

 private:
  RelayParts& parts_;
  TimeWaits time_waits_;
};

}  // namespace satrelay::gateway
