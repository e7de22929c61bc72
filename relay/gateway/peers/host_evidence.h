// A message to the peer about a connection that neither gateway relays. It contains the sequence
// numbers with which the host on the sender's LAN has answered a probe (desync_detector.h,
// docs/stp-wire.md section 15).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"

namespace satrelay::gateway {

struct HostEvidence {
  IpAddress near;  // the host on the sender's LAN
  IpAddress far;   // the host on the receiver's LAN
  std::uint16_t near_port = 0;
  std::uint16_t far_port = 0;
  std::uint32_t sends = 0;    // sequence number that the near host sends next
  std::uint32_t expects = 0;  // acknowledgment number of the near host

  friend bool operator==(const HostEvidence&, const HostEvidence&) = default;
};

inline constexpr std::uint8_t kHostEvidenceMessage = 0xc7;  // first octet of the metadata
inline constexpr std::size_t kMaxHostEvidence = 46;

// Octets that a later version appends are ignored.
std::optional<HostEvidence> parse_host_evidence(ConstBytes message);
std::size_t write_host_evidence(const HostEvidence& evidence, MutableBytes out);

}  // namespace satrelay::gateway
