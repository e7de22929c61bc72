// The settings of a session that encrypts (docs/stp.md section 16).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/entropy.h"
#include "pep/base/time.h"
#include "pep/crypto/noise.h"

namespace satrelay::stp {

struct Security {
  crypto::Psk psk;                        // shared with the peer; our offers are under this secret
  std::optional<crypto::Psk> other = {};  // also understood, while both ends change over
  Entropy* entropy = nullptr;             // outlives the session
  // The names of both ends, the same text at both. If several peers share one secret, a message
  // under one pair of names is not understood under another.
  std::vector<std::byte> names = {};
  // The next key follows after so many packets, or after so long, once the peer is known to have
  // the present key. After twice as many packets without that, nothing more is sent. 2^23 is the
  // limit of RFC 9001 section 6.6.
  std::uint64_t packets_per_key = 1ULL << 22;
  Duration time_per_key = Duration::seconds(3600);
};

}  // namespace satrelay::stp
