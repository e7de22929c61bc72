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
  crypto::Psk psk;  // secret shared with the peer; our offers use it
  // Second secret, which is also accepted while both ends change to a new secret.
  std::optional<crypto::Psk> other = {};
  Entropy* entropy = nullptr;  // must outlive the session
  // The names of both ends. Both ends must use the same text. If several pairs of gateways have the
  // same secret, a pair with other names cannot read the messages of this pair.
  std::vector<std::byte> names = {};
  // The key changes after this number of packets, or after this time, as soon as the peer is known
  // to have the current key. After twice as many packets without this knowledge, no more packets
  // are sent. The default is half of 2^23, the limit of RFC 9001 section 6.6.
  std::uint64_t packets_per_key = 1ULL << 22;
  Duration time_per_key = Duration::seconds(3600);
};

}  // namespace satrelay::stp
