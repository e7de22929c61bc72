#include "relay/sim/checks/flow_rewriter.h"

#include "relay/gateway/flow_images.h"

namespace satrelay::sim {

void FlowRewriter::enter(gateway::Gateway& engine, Instant now) {
  gateway::FlowImages images(engine);
  if (images.count() == 0 || !broken_.empty() || ++calls_ < interval_) return;
  calls_ = 0;
  const std::uint32_t slot = images.slot(random_.below(images.count()));
  const gateway::FlowImageFault fault = images.rewrite(slot, now);
  ++rewrites_;
  if (fault != gateway::FlowImageFault::kNone) {
    broken_.push_back(std::string("the image of a flow is not read: ") + to_string(fault));
  }
}

}  // namespace satrelay::sim
