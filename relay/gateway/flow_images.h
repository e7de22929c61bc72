// Takes flows out of a gateway as images (flows/image/flow_image.h), and puts them back. The
// simulator and the tests do that to any flow at any instant, and nothing that the gateway does
// later shows it.
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
  // For use between two calls of the gateway. Work that the gateway has deferred stays deferred:
  // the work of a call counts for its budget.
  explicit FlowImages(Gateway& gateway) : engine_(gateway.engine_.unsettled()) {}

  std::size_t count() const;  // flows
  // The slot of the flow with `before` flows before it. There are more than `before`.
  std::uint32_t slot(std::size_t before) const;

  // A flow that is out of the gateway. Nothing else may happen to the gateway until put_back() has
  // returned kNone.
  struct Lifted {
    std::uint32_t slot = 0;
    FlowGround ground;
    std::vector<std::byte> octets;
  };
  // The flow is destroyed, and its memory is overwritten.
  Lifted lift(std::uint32_t slot, Instant now);
  // `octets`: those of `lifted`, or of the flow with the same names in a gateway that has come as
  // far as this one.
  FlowImageFault put_back(const Lifted& lifted, ConstBytes octets, Instant now);
  FlowImageFault rewrite(std::uint32_t slot, Instant now) {
    const Lifted lifted = lift(slot, now);
    return put_back(lifted, lifted.octets, now);
  }

  // The accounts of the arena that holds the bytes of all flows (Arena::image()).
  void arena(Image& image);

 private:
  Gateway::Impl& engine_;
};

}  // namespace satrelay::gateway
