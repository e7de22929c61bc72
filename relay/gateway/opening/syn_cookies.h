// SYN cookies (RFC 4987 section 3.6): the gateway answers SYNs with cookies while the limit of
// half-open connections is reached. The sequence number of the SYN-ACK encodes the SYN, and the
// client's ACK returns that state. So a flood of forged SYNs uses no memory and locks no client
// out.
//
//   sequence number:  hash(4-tuple, client's number, period) xor index of the MSS (3 bits)
//   timestamp:        ... | ECN | SACK | window scale (4 bits; 15: none)
//
// A client without timestamps gets a connection without SACK and window scale. A random ACK is
// mistaken for the answer to a cookie once in 2^28 tries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/tcp/types.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/opening/recent_connections.h"

namespace satrelay::gateway {

class SynCookies {
 public:
  // A cookie is valid for at least one period after it was sent, and for less than two.
  static constexpr Duration kPeriod = Duration::seconds(64);
  // A host repeats a lost segment well within this time. It repeats a SYN three times, and later
  // segments sooner, since the SYN-ACK has shown it the round trip.
  static constexpr Duration kLongestGap = Duration::seconds(10);
  static constexpr std::size_t kMostWaiting = 1024;  // SYN-ACKs not yet polled

  SynCookies(HashKey secret, Counters& counters)
      : secret_(secret), counters_(counters), sent_lately_(secret, kLongestGap) {}

  // Queues the SYN-ACK. `config`: the settings of the endpoint that the connection would have.
  void answer(const FlowKey& key, const wire::EthernetHeader& to_host, const wire::TcpHeader& syn,
              const tcp::Config& config, Instant now);
  // Reconstructs the SYN from the cookie that this segment acknowledges. The SYN has only the
  // options that a cookie encodes. Returns nullopt if the segment acknowledges no cookie of this
  // gateway.
  std::optional<wire::TcpHeader> recover(const FlowKey& key, const wire::TcpHeader& segment,
                                         Instant now) const;

  // Whether a record shows that this SYN was answered within kLongestGap. If so, answer() repeats
  // the same cookie.
  bool has_answered(const FlowKey& key, const wire::TcpHeader& syn, Instant now) const;

  // For a segment that does not return a cookie: whether an earlier segment that did was lost. This
  // is so if the segment acknowledges a cookie that was lately sent for this flow.
  bool follows_a_lost_ack(const FlowKey& key, const wire::TcpHeader& segment, Instant now) const {
    return sent_lately_.recalls(key, segment.acknowledgment, now);
  }

  std::size_t poll_frame(MutableBytes out);
  bool has_frames() const { return count_ > 0; }

 private:
  struct Waiting {
    wire::EthernetHeader to_host;
    FlowKey key;
    wire::TcpHeader header;
  };
  std::uint32_t hash(const FlowKey& key, std::uint32_t client_sequence, std::int64_t period) const;
  // The sequence number of the cookie for a SYN.
  std::uint32_t number_of(const FlowKey& key, const wire::TcpHeader& syn,
                          std::int64_t period) const;
  // Whether a cookie with this sequence number was sent lately.
  bool has_sent(const FlowKey& key, std::uint32_t number, Instant now) const {
    return sent_lately_.recalls(key, number + 1, now);
  }
  HashKey secret_;
  Counters& counters_;
  RecentConnections sent_lately_;    // for each flow, the number that acknowledges its cookie
  Instant last_ = Instant::never();  // when the last cookie was sent
  std::vector<Waiting> waiting_;     // a ring, allocated on first use
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace satrelay::gateway
