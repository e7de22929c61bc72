// Cuts frames into fragments, as a host or a router with a smaller MTU does (RFC 791 section 3.2,
// RFC 8200 section 4.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/bytes.h"

namespace satrelay::sim {

struct Cut {
  std::size_t size = 576;  // bytes of the datagram in each fragment but the last; a multiple of 8
  std::uint32_t identification = 0;
  // IPv6: how many bytes of extension headers stand before the Fragment header.
  std::size_t unfragmentable = 0;
};

// Returns the fragments of an IP frame, in order. Each fragment repeats the frame's IPv4 options.
std::vector<std::vector<std::byte>> fragments_of(ConstBytes frame, const Cut& cut);

// Returns the IPv6 frame with an empty extension header of type `number` before all others. The
// type is hop-by-hop, routing, destination options, or Fragment (for an atomic fragment).
std::vector<std::byte> with_extension_header(ConstBytes frame, std::uint8_t number);

}  // namespace satrelay::sim
