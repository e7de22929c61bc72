// Splits frames into fragments, as a host does, or a router to a path with a smaller MTU (RFC 791
// section 3.2, RFC 8200 section 4.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/bytes.h"

namespace satrelay::sim {

struct Cut {
  // Bytes of the datagram in each fragment except the last. Must be a multiple of 8.
  std::size_t size = 576;
  std::uint32_t identification = 0;
  // Only for IPv6: number of bytes of extension headers that precede the Fragment header.
  std::size_t unfragmentable = 0;
};

// Returns the fragments of an IP frame, in order. Each fragment repeats the IPv4 options of the
// frame.
std::vector<std::vector<std::byte>> fragments_of(ConstBytes frame, const Cut& cut);

// Inserts an empty extension header of type `number` into an IPv6 frame, before all its extension
// headers, and returns the frame. The type is hop-by-hop, routing, destination options, or Fragment
// (for an atomic fragment).
std::vector<std::byte> with_extension_header(ConstBytes frame, std::uint8_t number);

}  // namespace satrelay::sim
