#include "relay/satlink/emulator.h"

#include <algorithm>

#include "relay/link/frame_priority.h"

namespace satrelay::satlink {
namespace {

// How many bursts are received from one port before the other port is served.
constexpr int kBurstsPerRound = 4;
// How long a due frame may wait, so that one wake-up sends several frames. The time is short
// compared with a satellite delay.
constexpr Duration kGather = Duration::microseconds(50);

// Combined with the seed, so that the two directions have different random numbers.
constexpr std::uint64_t kOtherDirection = 0x5851'f42d'4c95'7f2dU;

// The times of a link's steps count from the clock's zero. Shifts them to count from `zero`.
config::LinkDirection counted_from(Instant zero, config::LinkDirection direction) {
  const Duration later = zero - Instant();
  for (config::RateStep& step : direction.rate_steps) step.at = step.at + later;
  for (config::DelayStep& step : direction.delay_steps) step.at = step.at + later;
  for (config::LossStep& step : direction.loss_steps) step.at = step.at + later;
  for (config::LinkOutage& outage : direction.outages) outage.at = outage.at + later;
  return direction;
}

}  // namespace

Emulator::Emulator(const config::SatLink& config, const Sizing& sizing, dpdk::PacketPool& pool,
                   dpdk::Port& a, dpdk::Port& b, Instant zero)
    : pool_(pool),
      gather_(config.worker.polling == config::Polling::kBusy ? Duration::zero() : kGather),
      paths_{{{.in = a,
               .out = b,
               .model = {counted_from(zero, config.a_to_b), config.overhead, config.seed,
                         sizing.a_to_b_frames},
               .sending = {},
               .host = {}},
              {.in = b,
               .out = a,
               .model = {counted_from(zero, config.b_to_a), config.overhead,
                         config.seed ^ kOtherDirection, sizing.b_to_a_frames},
               .sending = {},
               .host = {}}}} {}

Emulator::~Emulator() {
  // Free the frames in flight: poll the model at the time of each delivery until nothing is left.
  for (Path& path : paths_) {
    while (!path.model.next_delivery().is_never()) {
      const auto delivery = path.model.poll(path.model.next_delivery());
      if (delivery) dpdk::Packet::adopt(delivery->frame);
      free_released(path);
    }
  }
}

dpdk::PollLoop::Round Emulator::round(Instant now) {
  dpdk::PollLoop::Round result;
  for (Path& path : paths_) {
    if (receive(path, now)) result.worked = true;
    deliver(path, now);
    const Instant next = path.sending.empty()
                             ? earlier(path.model.next_delivery(), path.model.next_rate_step())
                             : now;
    result.next_timeout = earlier(result.next_timeout, later(next, now) + gather_);
  }
  return result;
}

bool Emulator::receive(Path& path, Instant now) {
  bool received = false;
  for (int i = 0; i < kBurstsPerRound && path.in.receive(received_) > 0; ++i) {
    received = true;
    while (!received_.empty()) {
      dpdk::Packet packet = received_.pop();
      const std::size_t size = packet.size();
      const std::uint8_t priority =
          path.model.knows_priorities() ? link::priority_of(packet.bytes()) : std::uint8_t{0};
      const link::FrameHandle handle = std::move(packet).to_handle();
      switch (path.model.enqueue(handle, size, now, priority)) {
        case link::LinkDirection::Fate::kAccepted:
          break;
        case link::LinkDirection::Fate::kDropped:
          dpdk::Packet::adopt(handle);  // frees the packet
          break;
        case link::LinkDirection::Fate::kDuplicated: {
          dpdk::Packet first = dpdk::Packet::adopt(handle);
          std::move(first.share()).to_handle();
          std::move(first).to_handle();
          break;
        }
      }
      free_released(path);
    }
  }
  return received;
}

void Emulator::free_released(Path& path) {
  while (const auto frame = path.model.take_released()) dpdk::Packet::adopt(*frame);
}

void Emulator::deliver(Path& path, Instant now) {
  while (true) {
    while (!path.sending.full()) {
      const auto delivery = path.model.poll(now);
      free_released(path);
      if (!delivery) break;
      if (dpdk::Packet packet = take(path, *delivery)) path.sending.push(std::move(packet));
    }
    if (path.sending.empty()) return;
    const bool was_full = path.sending.full();
    path.out.send(path.sending);
    // Frames that the port did not take stay in `sending`, and leave first in the next round.
    if (!was_full || !path.sending.empty()) return;
  }
}

dpdk::Packet Emulator::take(Path& path, const link::LinkDirection::Delivery& delivery) {
  dpdk::Packet packet = dpdk::Packet::adopt(delivery.frame);
  if (!delivery.corrupt_bit) return packet;
  if (packet.is_shared()) {
    packet = pool_.copy(packet);
    if (!packet) {
      ++path.host.dropped_no_buffer;
      return packet;
    }
  }
  const std::uint64_t bit = *delivery.corrupt_bit;
  packet.set_unchecked();
  packet.mutable_bytes()[bit / 8] ^= std::byte{0x80} >> (bit % 8);
  return packet;
}

template <typename Change>
void Emulator::for_each(Side side, Change&& change) {
  if (side != Side::kBToA) change(paths_[0].model);
  if (side != Side::kAToB) change(paths_[1].model);
}

void Emulator::apply(const SetRate& command) {
  for_each(command.side, [&](link::LinkDirection& model) { model.set_rate(command.rate); });
}

void Emulator::apply(const SetLoss& command) {
  for_each(command.side, [&](link::LinkDirection& model) { model.set_loss(command.loss); });
}

void Emulator::apply(const SetOutage& command) {
  for_each(command.side,
           [&](link::LinkDirection& model) { model.set_outage(command.outage == Outage::kOn); });
}

}  // namespace satrelay::satlink
