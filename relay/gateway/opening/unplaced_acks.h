// ACKs for which there was no room: a host's ACK has returned a SYN cookie, but there is no longer
// room for a flow. To the host, the handshake is complete. If the host sends data, it repeats the
// data, and there may be room then. If the host waits for its server to send first, it would wait
// until it gives up. So the gateway resets such a host (RFC 9293 section 3.10.7.1). The ACK shows
// the sequence number that the host expects.
//
// The sizes of the list and of each host's part of it are limited. If there is no room in the list,
// the host is not reset.
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
  // A host that has sent data repeats the data well within this time.
  static constexpr Duration kPatience = Duration::seconds(3);
  static constexpr std::size_t kMost = 128;
  static constexpr std::size_t kMostOfOneHost = 16;

  explicit UnplacedAcks(Counters& counters) : counters_(counters) {}

  // Call this after an ACK of `key.local` without payload was dropped. Only the first ACK of a
  // connection is added. `to_host`: the Ethernet header of frames to the host.
  void add(const FlowKey& key, const wire::EthernetHeader& to_host, const wire::TcpHeader& ack,
           Instant now);
  // Call this if the host has sent data, SYN, FIN or RST, or if its flow begins.
  void forget(const FlowKey& key) {
    if (!waiting_.empty()) erase(key);
  }
  void handle_timeout(Instant now);

  // Writes the next RST for a host of the LAN. Returns its size, or 0 if there is none.
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
