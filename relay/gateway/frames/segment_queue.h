// A short queue of segments without payload that wait to be sent to hosts on the LAN or the WAN, in
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/frames/bare_segment.h"
#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

class SegmentQueue {
 public:
  explicit SegmentQueue(std::size_t most) : most_(most) {}

  bool empty() const { return waiting_.empty(); }
  bool full() const { return waiting_.size() >= most_; }
  // Queues a segment to the host `key.local`. The queue must not be full.
  void push(const wire::EthernetHeader& to_host, const FlowKey& key,
            const wire::TcpHeader& header) {
    waiting_.push_back({to_host, key, header});
  }
  // Queues an RST. `sequence` is the sequence number that the host expects, taken from the host's
  // own segments (RFC 9293 section 3.10.7.1).
  void push_reset(const wire::EthernetHeader& to_host, const FlowKey& key, std::uint32_t sequence) {
    wire::TcpHeader header;
    header.sequence = sequence;
    header.flags = wire::TcpFlags::kRst;
    push(to_host, key, header);
  }
  // Writes the frame of the first segment into `out`, and removes the segment. Returns the size of
  // the frame; 0 if there is none.
  std::size_t poll_frame(MutableBytes out) {
    if (waiting_.empty()) return 0;
    const Segment& first = waiting_.front();
    const std::size_t size = write_bare_segment(first.to_host, first.key, first.header, out);
    waiting_.pop_front();
    return size;
  }

 private:
  struct Segment {
    wire::EthernetHeader to_host;
    FlowKey key;
    wire::TcpHeader header;
  };
  std::size_t most_;
  std::deque<Segment> waiting_;
};

}  // namespace satrelay::gateway
