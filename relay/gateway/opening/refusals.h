// What a rule's `action: reset` says to a host: a RST for each segment it sends, as if nobody
// listened at the address that it was for (RFC 9293 section 3.10.7.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/segment_queue.h"
#include "relay/gateway/port_id.h"

namespace satrelay::gateway {

class Refusals {
 public:
  // Whether refuse() would answer: not to a RST, nor to what was for many, nor more than a burst at
  // once.
  bool answers(PortId port, const Frame& frame, const wire::TcpHeader& segment) const;
  // `frame` carries `segment`, with `payload` bytes behind the header, and came in by `port`.
  void refuse(PortId port, const Frame& frame, const wire::TcpHeader& segment, std::size_t payload);
  // A RST on the WAN in the name of the host of the LAN, whose SYN is taken back. `to_server`: of
  // its frames.
  bool take_back(const FlowKey& key, const wire::EthernetHeader& to_server, std::uint32_t sequence);
  std::size_t poll_frame(PortId port, MutableBytes out) {
    return waiting_[index(port)].poll_frame(out);
  }
  bool empty(PortId port) const { return waiting_[index(port)].empty(); }
  // Of those for the LAN; what is for the WAN waits for the link.
  Instant next_timeout() const { return empty(PortId::kLan) ? Instant::never() : Instant(); }

 private:
  static constexpr std::size_t kMostWaiting = 64;
  static std::size_t index(PortId port) { return static_cast<std::size_t>(port); }
  std::array<SegmentQueue, 2> waiting_{SegmentQueue(kMostWaiting), SegmentQueue(kMostWaiting)};
};

}  // namespace satrelay::gateway
