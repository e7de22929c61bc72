// Answers each segment that matches a rule with `action: reset` by a RST, as if no program listened
// at the destination (RFC 9293 section 3.10.7.1).
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
  // Whether refuse() would answer the segment. It does not answer RSTs and multicasts. It answers
  // nothing while kMostWaiting RSTs wait for the port.
  bool answers(PortId port, const Frame& frame, const wire::TcpHeader& segment) const;
  // `frame` contains `segment`, with `payload` bytes behind the header, and arrived on `port`.
  void refuse(PortId port, const Frame& frame, const wire::TcpHeader& segment, std::size_t payload);
  // Queues a RST to the WAN in the name of the host of the LAN, because the host's SYN is
  // withdrawn. `to_server`: the Ethernet header of the host's frames. Returns false if the queue is
  // full.
  bool take_back(const FlowKey& key, const wire::EthernetHeader& to_server, std::uint32_t sequence);
  std::size_t poll_frame(PortId port, MutableBytes out) {
    return waiting_[index(port)].poll_frame(out);
  }
  bool empty(PortId port) const { return waiting_[index(port)].empty(); }
  // Only the RSTs to the LAN can be sent at once. Those to the WAN wait for the link.
  Instant next_timeout() const { return empty(PortId::kLan) ? Instant::never() : Instant(); }

 private:
  static constexpr std::size_t kMostWaiting = 64;
  static std::size_t index(PortId port) { return static_cast<std::size_t>(port); }
  std::array<SegmentQueue, 2> waiting_{SegmentQueue(kMostWaiting), SegmentQueue(kMostWaiting)};
};

}  // namespace satrelay::gateway
