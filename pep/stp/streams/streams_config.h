// The settings of the streams of a session.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/schedule/host_share.h"

namespace satrelay::stp {

struct StreamsConfig {
  std::uint32_t max_streams = 65536;
  // Each half of a stream has a reserve of the arena. So the stream goes on, however little memory
  // other streams leave.
  bool reserves = false;
  // Credit granted to the peer, in bytes: for all streams, and for one stream.
  std::uint64_t lane_receive_limit = 64ULL << 20;
  std::uint64_t receive_limit = 64ULL << 20;
  // Bytes of a stream that are stored and not acknowledged.
  std::uint64_t send_limit = 64ULL << 20;
  // A stream that cannot end is reset after this time.
  Duration linger = Duration::seconds(120);
  // Counts the queues in which hosts wait for the same carrier; nullptr: there are no others.
  // Outlives the session.
  schedule::HostShares* host_shares = nullptr;
  // Keeps peers from knowing where an id is stored.
  std::uint64_t hash_secret = 0x9E37'79B9'7F4A'7C15U;
};

}  // namespace satrelay::stp
