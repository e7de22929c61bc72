#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

void Flow::image(Image& image) {
  image(state, modes, marks, lane, stream, timers, lan, handled, block, bytes, endpoint, beginning,
        metadata_, rare_);
  image.owned(hot_, [&image] { return std::make_unique<FlowHot>(image.now()); });
}

}  // namespace satrelay::gateway
