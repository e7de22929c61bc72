#include "relay/sim/network/lan.h"

#include <utility>

#include "pep/wire/ethernet.h"
#include "relay/link/capacity.h"

namespace satrelay::sim {
namespace {

void release_dropped(link::LinkDirection& direction, FramePool& frames) {
  while (const auto frame = direction.take_released()) frames.release(*frame);
}

void drain(link::LinkDirection& direction, FramePool& frames) {
  // A time at which no frame is in flight any more.
  const Instant end = Instant::from_nanoseconds(std::int64_t{1} << 62);
  while (const auto delivery = direction.poll(end)) frames.release(delivery->frame);
  release_dropped(direction, frames);
}

}  // namespace

SimLan::SimLan(EventLoop& loop, FramePool& frames, Tracer& tracer, std::string name,
               const config::LinkDirection& cable, std::uint64_t seed)
    : loop_(&loop),
      frames_(&frames),
      tracer_(&tracer),
      name_(std::move(name)),
      cable_(cable),
      seed_(seed),
      id_(loop.add(*this, name_)) {}

SimLan::~SimLan() {
  for (Cable& cable : cables_) {
    drain(*cable.up, *frames_);
    drain(*cable.down, *frames_);
  }
}

void SimLan::attach(SimHost& host) {
  const std::uint64_t seed = seed_ + 2 * cables_.size();
  host.attach(*this, static_cast<unsigned>(cables_.size()));
  const std::size_t capacity = link::frames_in_flight(cable_, {});
  const auto direction = [&](std::uint64_t seed_of_direction) {
    return std::make_unique<link::LinkDirection>(cable_, config::kOverheadEthernet,
                                                 seed_of_direction, capacity);
  };
  cables_.push_back({&host, direction(seed), direction(seed + 1)});
}

void SimLan::connect_gateway(FrameSink& gateway, unsigned port) {
  gateway_ = &gateway;
  gateway_port_ = port;
}

void SimLan::set_outage(bool outage) {
  for (const Cable& cable : cables_) {
    cable.up->set_outage(outage);
    cable.down->set_outage(outage);
  }
}

void SimLan::offer(link::LinkDirection& direction, FrameHandle frame) {
  using Fate = link::LinkDirection::Fate;
  switch (direction.enqueue(frame, frames_->bytes(frame).size(), loop_->now())) {
    case Fate::kAccepted:
      break;
    case Fate::kDropped:
      ++lost_;
      tracer_->frame(loop_->now(), name_, "lost", frames_->bytes(frame));
      frames_->release(frame);
      break;
    case Fate::kDuplicated:
      frames_->add_reference(frame);
      break;
  }
  release_dropped(direction, *frames_);
  loop_->wake(id_);
}

void SimLan::receive(unsigned port, FrameHandle frame) {
  if (port != kGateway) {
    offer(*cables_[port].up, frame);
    return;
  }
  const auto ethernet = wire::parse_ethernet(frames_->bytes(frame));
  for (Cable& cable : cables_) {
    if (!ethernet) break;
    if (ethernet->destination.is_multicast() ||
        ethernet->destination == cable.host->spec().addresses.mac) {
      frames_->add_reference(frame);
      offer(*cable.down, frame);
    }
  }
  frames_->release(frame);
}

void SimLan::run(Instant now) {
  for (Cable& cable : cables_) {
    while (const auto delivery = cable.up->poll(now)) {
      if (gateway_ != nullptr) {
        gateway_->receive(gateway_port_, delivery->frame);
      } else {
        frames_->release(delivery->frame);
      }
    }
    while (const auto delivery = cable.down->poll(now)) cable.host->receive(delivery->frame);
    release_dropped(*cable.up, *frames_);
    release_dropped(*cable.down, *frames_);
  }
}

Instant SimLan::next_timeout() const {
  Instant next = Instant::never();
  for (const Cable& cable : cables_) {
    next = earlier(next, earlier(cable.up->next_delivery(), cable.down->next_delivery()));
  }
  return next;
}

}  // namespace satrelay::sim
