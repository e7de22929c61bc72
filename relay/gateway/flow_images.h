// Takes flows out of a gateway as images (flows/image/flow_image.h), and puts them back. The
// simulator and the tests may do so with any flow at any time. The gateway must later behave as if
// the flow had never been taken out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/image/image.h"
#include "pep/base/time.h"
#include "relay/gateway/flows/image/flow_image.h"
#include "relay/gateway/gateway.h"

namespace satrelay::gateway {

class FlowImages {
 public:
  // Use this only between two calls of the gateway. The gateway may have deferred work. This class
  // does not do that work, since it must count against the budget of the next call.
  explicit FlowImages(Gateway& gateway) : engine_(gateway.engine_.unsettled()) {}

  std::size_t count() const;  // number of flows
  // Returns the slot of the flow at position `before`, counted from 0. There must be more than
  // `before` flows.
  std::uint32_t slot(std::size_t before) const;

  // A flow that was taken out of the gateway. Until put_back() has returned kNone, call no other
  // function of the gateway.
  struct Lifted {
    std::uint32_t slot = 0;
    FlowGround ground;
    std::vector<std::byte> octets;
  };
  // Destroys the flow, and overwrites its memory.
  Lifted lift(std::uint32_t slot, Instant now);
  // Reads the flow from `octets`, and puts it back. `octets` are the octets of `lifted`. They may
  // also come from another gateway with the same history, if its flow has the same key, origin and
  // lane.
  FlowImageFault put_back(const Lifted& lifted, ConstBytes octets, Instant now);
  FlowImageFault rewrite(std::uint32_t slot, Instant now) {
    const Lifted lifted = lift(slot, now);
    return put_back(lifted, lifted.octets, now);
  }

  // Writes or reads the accounts of the arena that holds the bytes of all flows (Arena::image()).
  void arena(Image& image);

 private:
  Gateway::Impl& engine_;
};

}  // namespace satrelay::gateway
