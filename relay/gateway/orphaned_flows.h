// Flows that this gateway relayed before it was started anew, as its peer lists them (liaison.h).
// Their hosts must not hang: each is sent a SYN, which draws the challenge ACK of RFC 5961 section
// 4.2; that carries the one sequence number that a valid RST needs. The same RST answers whatever
// else such a host still sends. A host that has no such connection says so with RST.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flow_key.h"
#include "relay/gateway/keyed_hash.h"
#include "relay/gateway/open_metadata.h"

namespace satrelay::gateway {

enum class ClientSide : std::uint8_t { kHere, kPeer };

class OrphanedFlows {
 public:
  OrphanedFlows(std::uint32_t most, HashKey secret, Counters& counters)
      : most_(most), secret_(secret), counters_(counters), table_(0, Hash{secret}) {}

  // No effect if it is known already, or if there are too many.
  void add(const OpenMetadata& flow, ClientSide client, Instant now);
  // A segment of its host, which is answered the way it came; the checksum is right. True if the
  // flow is one of these: then the segment is dealt with. A new SYN ends it, and is not dealt with.
  bool handle_segment(const FlowKey& key, const wire::EthernetHeader& from,
                      const wire::TcpHeader& header);
  // A new flow takes its place.
  void forget(const FlowKey& key);
  void handle_timeout(Instant now);

  std::size_t poll_frame(MutableBytes out, Instant now);
  Instant next_timeout() const;
  std::size_t size() const { return table_.size(); }

 private:
  struct Hash {
    HashKey secret;
    std::size_t operator()(const FlowKey& key) const { return hash_flow(secret, key); }
  };
  struct Orphan {
    wire::EthernetHeader to_host;
    std::uint8_t tries = 0;
    bool was_reset = false;
  };
  struct Due {
    Instant when;
    FlowKey key;
  };
  struct Reset {
    FlowKey key;
    wire::EthernetHeader to_host;
    std::uint32_t sequence = 0;
  };
  static constexpr std::size_t kMostResets = 4096;

  void count_end(const Orphan& orphan);

  std::uint32_t most_;
  HashKey secret_;
  Counters& counters_;
  // Allocated only while a restart is dealt with.
  std::unordered_map<FlowKey, Orphan, Hash> table_;
  // By how often the host was asked before: all of one queue wait equally long.
  std::deque<Due> due_[8];
  std::deque<Reset> resets_;
  Instant next_ask_;
};

}  // namespace satrelay::gateway
