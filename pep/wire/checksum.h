// The Internet checksum (RFC 1071).
#pragma once

#include <cstdint>

#include "pep/base/address.h"
#include "pep/base/bytes.h"

namespace satrelay::wire {

// Folded one's-complement sum of `bytes` as big-endian 16-bit words (an odd last byte is padded
// with zero), added to `initial`. The sum is not complemented. Sums of pieces can be added by
// add_checksums() if every piece but the last has an even length.
std::uint16_t checksum_sum(ConstBytes bytes, std::uint16_t initial = 0);
std::uint16_t add_checksums(std::uint16_t a, std::uint16_t b);

// Sum of the pseudo-header of RFC 9293 section 3.1 / RFC 8200 section 8.1.
std::uint16_t pseudo_header_sum(const IpAddress& source, const IpAddress& destination,
                                std::uint8_t protocol, std::uint32_t length);

// Returns the value of a transport segment's checksum field. The field must be zero in `segment`.
// For UDP, the caller must replace 0 by 0xffff.
std::uint16_t transport_checksum(const IpAddress& source, const IpAddress& destination,
                                 std::uint8_t protocol, ConstBytes segment);
// Whether a received segment, including its checksum field, sums to 0xffff.
bool transport_checksum_ok(const IpAddress& source, const IpAddress& destination,
                           std::uint8_t protocol, ConstBytes segment);
// Whether the checksum field holds only the pseudo-header sum. Then the checksum was left to an
// offload that did not complete it (the ethtool hint in docs/statistics.md).
bool transport_checksum_unfinished(const IpAddress& source, const IpAddress& destination,
                                   std::uint8_t protocol, ConstBytes segment);

}  // namespace satrelay::wire
