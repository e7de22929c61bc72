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
  // A second secret that is also accepted, while the operators change the secret of both ends.
  std::optional<crypto::Psk> other = {};
  Entropy* entropy = nullptr;  // must outlive the session
  // The names of both ends. Both ends must use the same text. If other gateways have the same
  // secret, but other names, they cannot read the messages of these two ends.
  std::vector<std::byte> names = {};
  // The key changes after this number of packets, or after this time. Before each change, a report
  // must show that the peer has the current key. If no report shows this, no more packets are sent
  // after twice the number of packets. The default is half of 2^23, the limit of RFC 9001 section
  // 6.6.
  std::uint64_t packets_per_key = 1ULL << 22;
  Duration time_per_key = Duration::seconds(3600);
};

}  // namespace satrelay::stp
