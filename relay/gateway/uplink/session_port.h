// The interface through which the uplink gets packets from the sessions of the lanes.
#pragma once

#include <cstddef>
#include <span>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/schedule/turn.h"
#include "pep/stp/session.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class SessionPort {
 public:
  struct Written {
    std::size_t count = 0;         // 0 if the session has nothing to send
    std::size_t frame_header = 0;  // size in bytes of the headers before each packet
    bool had_events = false;       // whether the session had events; they have been handled
  };
  virtual ~SessionPort() = default;
  virtual bool is_reachable(LaneId lane) const = 0;
  // Polls the lane's session, and writes its packets and their headers as frames. Frame i is
  // written into rooms[i], and packets[i] describes its packet. `packets` must have at least as
  // many elements as `rooms`.
  virtual Written write_packets(LaneId lane, const schedule::Turn& turn,
                                std::span<const MutableBytes> rooms,
                                std::span<stp::PolledPacket> packets, Instant now) = 0;
};

}  // namespace satrelay::gateway
