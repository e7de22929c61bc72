// The positions that an arriving segment occupies in the peer's stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/tcp/block/tcb.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

struct Placement {
  std::int64_t begin = 0;
  std::int64_t payload_end = 0;
  std::int64_t end = 0;  // position after the payload, and after the FIN if there is one

  bool occupies_sequence() const { return end > begin; }
};

inline Placement placement_of(const Tcb& tcb, const wire::TcpHeader& header,
                              std::size_t payload_size) {
  Placement placement;
  placement.begin = tcb.receive_space.to_position(header.sequence, tcb.receiver.next());
  placement.payload_end = placement.begin + static_cast<std::int64_t>(payload_size);
  placement.end = placement.payload_end + (header.has(wire::TcpFlags::kFin) ? 1 : 0);
  return placement;
}

}  // namespace satrelay::tcp
