// What a session needs to encrypt (docs/stp.md section 16).
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
  crypto::Psk psk;                        // shared with the peer; what we offer is under this one
  std::optional<crypto::Psk> other = {};  // understood too, while both ends change over
  Entropy* entropy = nullptr;             // outlives the session
  // What both ends call each other, alike at both: what is said under one name is not understood
  // under another, where several peers share one secret.
  std::vector<std::byte> names = {};
  // A key is followed by the next after so many packets, or so long, as soon as the peer has heard
  // of it; with twice as many packets nothing more is sent. 2^23 is the limit of RFC 9001
  // section 6.6.
  std::uint64_t packets_per_key = 1ULL << 22;
  Duration time_per_key = Duration::seconds(3600);
};

}  // namespace satrelay::stp
