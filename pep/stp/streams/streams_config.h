// The settings of the streams of a session.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/schedule/host_share.h"

namespace satrelay::stp {

struct StreamsConfig {
  std::uint32_t max_streams = 65536;
  // Whether each half of a stream gets a reserve of the arena. With a reserve, the stream makes
  // progress even if other streams use all other memory.
  bool reserves = false;
  // Credit granted to the peer, in bytes: for all streams together, and for each stream.
  std::uint64_t lane_receive_limit = 64ULL << 20;
  std::uint64_t receive_limit = 64ULL << 20;
  // Maximum number of bytes of a stream that are stored until they are acknowledged.
  std::uint64_t send_limit = 64ULL << 20;
  // If a stream cannot end within this time, it is reset.
  Duration linger = Duration::seconds(120);
  // Counts the queues of the same carrier in which each host waits. nullptr if there are no other
  // queues. Must outlive the session.
  schedule::HostShares* host_shares = nullptr;
  // Keeps peers from predicting where an id is stored.
  std::uint64_t hash_secret = 0x9E37'79B9'7F4A'7C15U;
};

}  // namespace satrelay::stp
