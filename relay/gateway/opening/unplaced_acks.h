// A host's ACK may bring a SYN cookie back when there is no room for a flow any more. The host
// takes its connection for open. If it speaks, it repeats what it says from the ACK on, and may
// find room then. If it waits for its server to speak first, nothing of it would come again, and it
// would wait until it gives up by its own patience: it is reset (RFC 9293 section 3.10.7.1), with
// the number that it has just said that it expects.
//
// Fixed size, and few of one host: those beyond are left to their own patience.
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
  // A host that has something to say says it well within this, and repeats it.
  static constexpr Duration kPatience = Duration::seconds(3);
  static constexpr std::size_t kMost = 128;
  static constexpr std::size_t kMostOfOneHost = 16;

  explicit UnplacedAcks(Counters& counters) : counters_(counters) {}

  // An ACK of `key.local` that was dropped, which has nothing behind it: the first one counts.
  // `to_host`: of what is sent to it.
  void add(const FlowKey& key, const wire::EthernetHeader& to_host, const wire::TcpHeader& ack,
           Instant now);
  // The host says more, has found room, or does not wait any more.
  void forget(const FlowKey& key) {
    if (!waiting_.empty()) erase(key);
  }
  void handle_timeout(Instant now);

  // The next RST for a host of the LAN, 0 if there is none.
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
