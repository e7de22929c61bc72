#include "relay/sim/network/satellite.h"

#include "relay/link/capacity.h"
#include "relay/link/frame_priority.h"

namespace satrelay::sim {
SatelliteLink::SatelliteLink(EventLoop& loop, FramePool& frames, Tracer& tracer,
                             const config::LinkDirection& a_to_b,
                             const config::LinkDirection& b_to_a, std::uint32_t overhead,
                             std::uint64_t seed)
    : loop_(&loop),
      frames_(&frames),
      tracer_(&tracer),
      id_(loop.add(*this, "satellite")),
      a_to_b_(a_to_b, overhead, seed, link::frames_in_flight(a_to_b, {})),
      b_to_a_(b_to_a, overhead, seed + 1, link::frames_in_flight(b_to_a, {})) {}

SatelliteLink::~SatelliteLink() {
  const Instant end = Instant::from_nanoseconds(std::int64_t{1} << 62);
  while (const auto delivery = a_to_b_.poll(end)) frames_->release(delivery->frame);
  while (const auto delivery = b_to_a_.poll(end)) frames_->release(delivery->frame);
  release_dropped(a_to_b_);
  release_dropped(b_to_a_);
}

void SatelliteLink::connect(unsigned end, FrameSink& sink, unsigned port) {
  sinks_[end] = &sink;
  ports_[end] = port;
}

void SatelliteLink::receive(unsigned port, FrameHandle frame) {
  using Fate = link::LinkDirection::Fate;
  const ConstBytes bytes = frames_->bytes(frame);
  for (const auto& call : on_frame_) call(port, bytes);
  link::LinkDirection& direction = port == kA ? a_to_b_ : b_to_a_;
  const std::uint8_t priority =
      direction.knows_priorities() ? link::priority_of(bytes) : std::uint8_t{0};
  switch (direction.enqueue(frame, bytes.size(), loop_->now(), priority)) {
    case Fate::kAccepted:
      tracer_->frame(loop_->now(), port == kA ? "sat a>b" : "sat b>a", "in  ", bytes);
      break;
    case Fate::kDropped:
      tracer_->frame(loop_->now(), port == kA ? "sat a>b" : "sat b>a", "lost", bytes);
      if (on_lost_) on_lost_(bytes);
      frames_->release(frame);
      break;
    case Fate::kDuplicated:
      tracer_->frame(loop_->now(), port == kA ? "sat a>b" : "sat b>a", "dup ", bytes);
      frames_->add_reference(frame);
      break;
  }
  release_dropped(direction);
  loop_->wake(id_);
}

void SatelliteLink::release_dropped(link::LinkDirection& direction) {
  while (const auto frame = direction.take_released()) frames_->release(*frame);
}

void SatelliteLink::set_outage(bool outage, config::LinkWays ways) {
  if (ways != config::LinkWays::kBToA) a_to_b_.set_outage(outage);
  if (ways != config::LinkWays::kAToB) b_to_a_.set_outage(outage);
}

void SatelliteLink::deliver(link::LinkDirection& direction, unsigned to, Instant now) {
  while (const auto delivery = direction.poll(now)) {
    FrameHandle frame = delivery->frame;
    if (delivery->corrupt_bit) {
      // A duplicated frame shares its bytes, so corrupt a copy.
      const FrameHandle copy = frames_->copy_of(frames_->bytes(frame));
      frames_->release(frame);
      frame = copy;
      std::byte& spoilt = frames_->room(frame)[*delivery->corrupt_bit / 8];
      spoilt ^= std::byte{1} << (*delivery->corrupt_bit % 8);
      tracer_->frame(now, to == kB ? "sat a>b" : "sat b>a", "bad ", frames_->bytes(frame));
    }
    if (sinks_[to] != nullptr) {
      sinks_[to]->receive(ports_[to], frame);
    } else {
      frames_->release(frame);
    }
  }
  release_dropped(direction);
}

void SatelliteLink::run(Instant now) {
  deliver(a_to_b_, kB, now);
  deliver(b_to_a_, kA, now);
}

Instant SatelliteLink::next_timeout() const {
  return earlier(a_to_b_.next_delivery(), b_to_a_.next_delivery());
}

}  // namespace satrelay::sim
