// ACKs without a place: a host's ACK may bring a SYN cookie back when there is no longer room for a
// flow. The host believes that it is connected. If it sends data, it repeats the data from the ACK
// on, and may find room then. If it waits for its server to send first, it would send nothing
// again, and would wait until it gives up. So the gateway resets such a host (RFC 9293 section
// 3.10.7.1), with the number that its ACK has shown that it expects.
//
// The list has a fixed size, with few entries for each host. Hosts beyond that are not reset, and
// wait until they give up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/segment_queue.h"

namespace satrelay::gateway {

class UnplacedAcks {
 public:
  // A host that has data sends and repeats it well within this time.
  static constexpr Duration kPatience = Duration::seconds(3);
  static constexpr std::size_t kMost = 128;
  static constexpr std::size_t kMostOfOneHost = 16;

  explicit UnplacedAcks(Counters& counters) : counters_(counters) {}

  // An ACK of `key.local` that was dropped, with nothing behind it. The first ACK of a connection
  // counts. `to_host`: the L2 header of frames to the host.
  void add(const FlowKey& key, const wire::EthernetHeader& to_host, const wire::TcpHeader& ack,
           Instant now);
  // The host sends more, has found room, or no longer waits.
  void forget(const FlowKey& key) {
    if (!waiting_.empty()) erase(key);
  }
  void handle_timeout(Instant now);

  // Writes the next RST for a host of the LAN; 0 if there is none.
  std::size_t poll_frame(MutableBytes out) { return resets_.poll_frame(out); }
  Instant next_timeout() const;

 private:
  void erase(const FlowKey& key);
  struct Entry {
    FlowKey key;
    wire::EthernetHeader to_host;
    std::uint32_t expects = 0;
    Instant until;
  };
  Counters& counters_;
  std::deque<Entry> waiting_;  // in the order of `until`
  SegmentQueue resets_{kMost};
};

}  // namespace satrelay::gateway
