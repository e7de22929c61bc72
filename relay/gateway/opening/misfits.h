// Bridged connections whose two directions do not fit each other. Relayed connections have numbers
// of their own on each LAN; when both gateways have been started anew and know nothing of them,
// what one host sends is out of the other's window, which discards it and answers with an ACK that
// covers none of it, until a host gives up many minutes later. Seen from here: the same data is
// sent again and again, and answered each time by an acknowledgment of something far away. Then the
// host of this LAN is reset, with the number that it expects; the other gateway sees the same.
//
// Fixed size, direct-mapped: a later connection in the same place takes it over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/segment_queue.h"

namespace satrelay::gateway {

class Misfits {
 public:
  Misfits(HashKey secret, Counters& counters)
      : secret_(secret), counters_(counters), entries_(kEntries) {}

  // A segment that is bridged, from its TCP header on, at least wire::kTcpHeaderSize octets.
  void look_from_lan(const FlowKey& key, const wire::EthernetHeader& ethernet, ConstBytes segment);
  void look_from_wan(const FlowKey& key, ConstBytes segment);

  // The next RST for a host of the LAN.
  std::size_t poll_frame(MutableBytes out) { return resets_.poll_frame(out); }
  Instant next_timeout() const { return resets_.empty() ? Instant::never() : Instant(); }

 private:
  enum Way : std::uint8_t { kFromLan, kFromWan };
  struct Data {
    std::uint32_t sequence = 0;  // of the latest segment with data
    std::uint8_t misfits = 0;    // how often it was answered so
    bool seen = false;
    bool unanswered = false;
  };
  struct Entry {
    std::uint64_t hash = 0;
    std::array<Data, 2> data;        // by way
    std::uint32_t host_expects = 0;  // the acknowledgment of our host's latest segment
    wire::EthernetHeader to_host;    // and the way back
    bool host_heard = false;
  };
  // An acknowledgment so far from the data cannot be about it, but with windows of this size in
  // flight; and there the same data is not answered so again and again.
  static constexpr std::uint32_t kReach = 1U << 24;
  static constexpr std::uint8_t kEnough = 3;
  static constexpr std::size_t kEntries = 4096;
  static constexpr std::size_t kMostResets = 256;

  Entry* entry_for(const FlowKey& key, std::uint8_t flags);
  void look(Entry& entry, Way way, const FlowKey& key, ConstBytes segment);

  HashKey secret_;
  Counters& counters_;
  std::vector<Entry> entries_;
  SegmentQueue resets_{kMostResets};
};

}  // namespace satrelay::gateway
