// The Internet checksum (RFC 1071).
#pragma once

#include <cstdint>

#include "pep/base/address.h"
#include "pep/base/bytes.h"

namespace satrelay::wire {

// Folded one's-complement sum of `bytes` as big-endian 16-bit words (odd tail padded with zero),
// added to `initial`. Not complemented. Sums of pieces combine with add_checksums() when every
// piece but the last has even length.
std::uint16_t checksum_sum(ConstBytes bytes, std::uint16_t initial = 0);
std::uint16_t add_checksums(std::uint16_t a, std::uint16_t b);

// Sum of the pseudo-header of RFC 9293 section 3.1 / RFC 8200 section 8.1.
std::uint16_t pseudo_header_sum(const IpAddress& source, const IpAddress& destination,
                                std::uint8_t protocol, std::uint32_t length);

// The value of the checksum field for a transport segment. The field must be zero in `segment`. For
// UDP the caller maps 0 to 0xffff.
std::uint16_t transport_checksum(const IpAddress& source, const IpAddress& destination,
                                 std::uint8_t protocol, ConstBytes segment);
// Whether a received segment, its field included, sums to 0xffff.
bool transport_checksum_ok(const IpAddress& source, const IpAddress& destination,
                           std::uint8_t protocol, ConstBytes segment);
// Whether the field holds just the pseudo-header sum: a checksum left to an offload that never
// happened (the ethtool hint in docs/statistics.md).
bool transport_checksum_unfinished(const IpAddress& source, const IpAddress& destination,
                                   std::uint8_t protocol, ConstBytes segment);

}  // namespace satrelay::wire
