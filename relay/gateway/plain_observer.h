// Receives STP packets in the clear: each packet before its encryption or after its decryption. The
// packet begins with the headers of a WAN frame, and has no checksum or authentication tag.
#pragma once

#include "pep/base/bytes.h"
#include "relay/gateway/uplink/link_way.h"

namespace satrelay::gateway {

class PlainObserver {
 public:
  virtual ~PlainObserver() = default;
  virtual void see_plain(LinkWay way, ConstBytes frame) = 0;
};

}  // namespace satrelay::gateway
