// Writes HELLOs as whole STP packets, for hostile peers and for peers that tests write by hand. A
// Session writes its own HELLOs.
#pragma once

#include <vector>

#include "pep/base/bytes.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"

namespace satrelay::sim {

// Returns the packet with the checksum that HELLOs have. The function sets the type in `header`;
// the caller sets the other fields. If `keys` ask for a MAC, the packet has zeros in its place.
inline std::vector<std::byte> write_hello_packet(stp::PacketHeader header,
                                                 const stp::HelloFrame& hello,
                                                 const stp::HelloKeys& keys = {}) {
  const std::size_t most_of_keys =
      4 + keys.offer.size() + keys.accept.size() + stp::kOfferNameSize + stp::kHelloMacSize;
  std::vector<std::byte> packet(stp::kHeaderSize + stp::kHelloFrameSize + most_of_keys +
                                stp::kTrailerSize);
  ByteWriter frames(MutableBytes(packet).subspan(stp::kHeaderSize));
  stp::write_hello(frames, hello, keys);
  packet.resize(stp::kHeaderSize + frames.written() + stp::kTrailerSize);
  header.type = stp::PacketType::kHello;
  stp::write_header(header, packet.data());
  stp::SessionSeal().close(packet);
  return packet;
}

}  // namespace satrelay::sim
