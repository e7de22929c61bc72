#include "relay/link/link_direction.h"

#include <algorithm>

namespace satrelay::link {
namespace {

constexpr std::size_t kEthernetHeader = 14;

// Where each fault's random sequence starts.
enum class Fault : std::uint64_t { kLoss = 1, kJitter, kReorder, kDuplicate, kCorrupt };

std::uint64_t seed_for(std::uint64_t seed, Fault fault) {
  return Random(seed ^ (static_cast<std::uint64_t>(fault) << 56)).next();
}

std::uint32_t ip_bytes(std::size_t frame_bytes) {
  return static_cast<std::uint32_t>(frame_bytes - std::min(frame_bytes, kEthernetHeader));
}

}  // namespace

LinkDirection::LinkDirection(const config::LinkDirection& config, std::uint32_t overhead,
                             std::uint64_t seed, std::size_t capacity)
    : config_(config),
      overhead_(overhead),
      serializer_(config.rate, config.queue),
      loss_(config.loss, config.gilbert_elliott, seed_for(seed, Fault::kLoss)),
      line_(capacity, config.reorder > 0 ? DelayLine::Order::kMixed : DelayLine::Order::kKept),
      jitter_random_(seed_for(seed, Fault::kJitter)),
      reorder_random_(seed_for(seed, Fault::kReorder)),
      duplicate_random_(seed_for(seed, Fault::kDuplicate)),
      corrupt_random_(seed_for(seed, Fault::kCorrupt)) {}

LinkDirection::Fate LinkDirection::enqueue(FrameHandle frame, std::size_t frame_bytes,
                                           Instant now) {
  last_seen_ = now;
  ++counters_.frames_in;
  counters_.bytes_in += frame_bytes;
  if (line_.full()) {
    ++counters_.dropped_memory;
    return Fate::kDropped;
  }
  const auto departure = serializer_.enqueue(ip_bytes(frame_bytes) + overhead_, now);
  if (!departure) {
    ++counters_.dropped_queue;
    return Fate::kDropped;
  }
  counters_.bytes_carried += ip_bytes(frame_bytes) + overhead_;
  queue_peak_ = std::max(queue_peak_, *departure - now);
  if (outage_) {
    ++counters_.dropped_outage;
    return Fate::kDropped;
  }
  if (loss_.next_is_lost()) {
    ++counters_.dropped_loss;
    return Fate::kDropped;
  }

  const Instant arrival = due(*departure);
  InFlight entry{.due_nanoseconds = arrival.to_nanoseconds(),
                 .frame = frame,
                 .bytes = static_cast<std::uint32_t>(frame_bytes),
                 .corrupt_bit = InFlight::kIntact};
  if (config_.corrupt > 0 && frame_bytes > 0 && corrupt_random_.chance(config_.corrupt)) {
    entry.corrupt_bit = static_cast<std::uint32_t>(corrupt_random_.below(frame_bytes * 8));
    ++counters_.corrupted;
  }
  if (config_.reorder > 0 && reorder_random_.chance(config_.reorder)) {
    entry.due_nanoseconds = (arrival + config_.reorder_by).to_nanoseconds();
    ++counters_.reordered;
    line_.push_late(entry);
  } else {
    last_due_ = arrival;
    line_.push(entry);
  }
  if (config_.duplicate > 0 && duplicate_random_.chance(config_.duplicate) && !line_.full()) {
    ++counters_.duplicated;
    last_due_ = later(last_due_, entry.due());
    entry.due_nanoseconds = last_due_.to_nanoseconds();
    entry.corrupt_bit = InFlight::kIntact;
    line_.push(entry);
    return Fate::kDuplicated;
  }
  return Fate::kAccepted;
}

Instant LinkDirection::due(Instant departure) {
  Instant result = departure + config_.delay;
  if (config_.jitter > Duration::zero()) {
    const auto span = static_cast<std::uint64_t>(config_.jitter.to_nanoseconds()) + 1;
    result += Duration::nanoseconds(static_cast<std::int64_t>(jitter_random_.below(span)));
  }
  return later(result, last_due_);
}

std::optional<LinkDirection::Delivery> LinkDirection::poll(Instant now) {
  last_seen_ = now;
  if (line_.next_due().is_never() || line_.next_due() > now) return std::nullopt;
  const InFlight entry = line_.pop();
  ++counters_.frames_out;
  counters_.bytes_out += entry.bytes;
  Delivery delivery{.frame = entry.frame, .corrupt_bit = std::nullopt};
  if (entry.corrupt_bit != InFlight::kIntact) delivery.corrupt_bit = entry.corrupt_bit;
  return delivery;
}

void LinkDirection::set_rate(BitRate rate) { serializer_.set_rate(rate); }

void LinkDirection::set_loss(double loss) { loss_.set_probability(loss); }

DirectionCounters LinkDirection::counters() const {
  DirectionCounters result = counters_;
  result.queue_bytes = serializer_.backlog(last_seen_).value();
  return result;
}

}  // namespace satrelay::link
