// STP packets made with the writers of pep/stp, and the frames that carry them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/random.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "relay/gateway/frames/open_metadata.h"

namespace satrelay::dissector {

using Bytes = std::vector<std::byte>;

// Returns the bytes that `write` writes.
template <typename Write>
Bytes written(Write&& write) {
  Bytes room(9000);
  ByteWriter out(room);
  write(out);
  return {room.begin(), room.begin() + static_cast<std::ptrdiff_t>(out.written())};
}
Bytes joined(std::span<const Bytes> parts);

// A packet of `frames`; `seal` gives tag and checksum.
Bytes sealed(stp::PacketHeader header, const Bytes& frames, const stp::SessionSeal& seal);

struct Carrier {
  IpVersion version = IpVersion::kV4;
  std::uint16_t client_port = 7878;  // Gateway 0's port; gateway 1's port is 7878.
  // If not 0, both gateways send from this port to 7878, as on one of several lanes.
  std::uint16_t source_port = 0;
};
// An Ethernet frame from gateway `from`, 0 or 1, to the other.
Bytes framed(unsigned from, const Bytes& packet, const Carrier& carrier);

stp::HelloFrame hello_frame(std::uint64_t epoch, std::uint64_t peer_epoch);
struct HelloHeader {
  std::uint32_t number = 1;
  std::uint8_t lane = 0;
  std::uint8_t version = 1;
};
Bytes hello_packet(const HelloHeader& header, const stp::HelloFrame& frame,
                   const stp::HelloKeys& keys = {});

// Single frames, each well-formed: every type, and values at the edges of their encodings.
std::vector<Bytes> example_frames();
// Contents that no writer writes but a peer may send: malformed, or of a later version.
std::vector<Bytes> odd_frames();
// A well-formed frame of any type but OPEN, with values from `random`.
Bytes random_frame(Random& random);

std::vector<gateway::OpenMetadata> example_flows();
Bytes metadata_of(const gateway::OpenMetadata& flow);

}  // namespace satrelay::dissector
