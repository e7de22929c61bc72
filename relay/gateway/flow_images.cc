#include "relay/gateway/flow_images.h"

#include <memory>
#include <new>
#include <utility>

#include "pep/base/image/poison.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

namespace {

void destroy_and_poison(std::unique_ptr<Flow> flow) {
  Flow* const memory = flow.release();
  std::destroy_at(memory);
  poison(memory, sizeof(Flow));
  ::operator delete(memory);
}

}  // namespace

std::size_t FlowImages::count() const { return engine_.parts.flows.parts_.flows.size(); }

std::uint32_t FlowImages::slot(std::size_t before) const {
  return engine_.parts.flows.parts_.flows.nth(before);
}

FlowImages::Lifted FlowImages::lift(std::uint32_t slot, Instant now) {
  std::unique_ptr<Flow> flow = engine_.parts.flows.parts_.flows.lift(slot);
  Lifted lifted{slot, FlowGround(*flow), {}};
  lifted.octets = FlowImage::write(*flow, engine_.parts.lanes[flow->lane]->session, now);
  destroy_and_poison(std::move(flow));
  return lifted;
}

FlowImageFault FlowImages::put_back(const Lifted& lifted, ConstBytes octets, Instant now) {
  FlowImage::Read read =
      FlowImage::read(octets, lifted.ground, engine_.parts.lanes[lifted.ground.lane]->session, now);
  if (read.fault == FlowImageFault::kNone) {
    engine_.parts.flows.parts_.flows.put_back(lifted.slot, std::move(read.flow));
  }
  return read.fault;
}

void FlowImages::arena(Image& image) {
  image(engine_.parts.arena);
  for (const std::unique_ptr<FarGateway>& peer : engine_.parts.peers) image(peer->arena);
}

}  // namespace satrelay::gateway
