// Where a packet comes from. This decides whether its checksums can be trusted when it is sent.
#pragma once

#include "pep/wire/coalescer.h"
#include "relay/dpdk/device/packet.h"

namespace satrelay::dpdk {

inline wire::Coalescer::Origin origin_of(const PacketView& packet) {
  using enum wire::Coalescer::Origin;
  if (packet.is_own()) return kOwn;
  return packet.is_checked() ? kChecked : kUnchecked;
}

}  // namespace satrelay::dpdk
