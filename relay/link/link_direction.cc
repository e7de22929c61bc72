#include "relay/link/link_direction.h"

#include <algorithm>

#include "relay/link/capacity.h"

namespace satrelay::link {
namespace {

constexpr std::size_t kEthernetHeader = 14;

// The faults that use random numbers. The number of a fault selects its random sequence.
enum class Fault : std::uint64_t { kLoss = 1, kJitter, kReorder, kDuplicate, kCorrupt };

std::uint64_t seed_for(std::uint64_t seed, Fault fault) {
  return Random(seed ^ (static_cast<std::uint64_t>(fault) << 56)).next();
}

std::uint32_t ip_bytes(std::size_t frame_bytes) {
  return static_cast<std::uint32_t>(frame_bytes - std::min(frame_bytes, kEthernetHeader));
}

DelayLine::Order order_of(const config::LinkDirection& config) {
  const bool overtaking =
      !config.delay_steps.empty() && config.delay_order == config::DelayOrder::kOvertaking;
  return config.reorder > 0 || overtaking ? DelayLine::Order::kMixed : DelayLine::Order::kKept;
}

}  // namespace

LinkDirection::LinkDirection(const config::LinkDirection& config, std::uint32_t overhead,
                             std::uint64_t seed, std::size_t capacity)
    : config_(config),
      overhead_(overhead),
      serializer_(config.rate, config.queue),
      loss_(config, seed_for(seed, Fault::kLoss)),
      line_(capacity, order_of(config)),
      rate_steps_(config.rate_steps),
      delay_(config.delay, config.delay_steps),
      loss_steps_(config.loss_steps),
      outages_(config.outages),
      jitter_random_(seed_for(seed, Fault::kJitter)),
      reorder_random_(seed_for(seed, Fault::kReorder)),
      duplicate_random_(seed_for(seed, Fault::kDuplicate)),
      corrupt_random_(seed_for(seed, Fault::kCorrupt)),
      capacity_(capacity) {
  if (frames_wait(config)) {
    waiting_.emplace(capacity);
    released_.reserve(capacity);
  }
}

bool LinkDirection::is_full(std::size_t more) const {
  const std::size_t waiting = waiting_ ? 2 * waiting_->size() + released_.size() : 0;
  return line_.size() + waiting + more > capacity_;
}

LinkDirection::Fate LinkDirection::enqueue(FrameHandle frame, std::size_t frame_bytes, Instant now,
                                           std::uint8_t priority) {
  last_seen_ = now;
  advance(now);
  ++counters_.frames_in;
  counters_.bytes_in += frame_bytes;
  if (config_.mtu != 0 && ip_bytes(frame_bytes) > config_.mtu) {
    ++counters_.dropped_mtu;
    return Fate::kDropped;
  }
  if (is_full(1)) {
    ++counters_.dropped_memory;
    return Fate::kDropped;
  }
  const std::uint32_t accounted = ip_bytes(frame_bytes) + overhead_;
  if (waiting_) {
    return enqueue_waiting({.frame = frame,
                            .since_nanoseconds = now.to_nanoseconds(),
                            .order = 0,
                            .bytes = static_cast<std::uint32_t>(frame_bytes),
                            .accounted = accounted,
                            .priority = priority,
                            .copies = 1},
                           now);
  }
  const auto departure = serializer_.enqueue(accounted, now);
  if (!departure) {
    count_queue_drop(priority);
    return Fate::kDropped;
  }
  counters_.bytes_carried += accounted;
  queue_peak_ = std::max(queue_peak_, *departure - now);
  const bool twice = config_.duplicate > 0 && duplicate_random_.chance(config_.duplicate);
  switch (launch(frame, frame_bytes, *departure, twice)) {
    case Sent::kOnItsWay:
      return Fate::kAccepted;
    case Sent::kTwice:
      return Fate::kDuplicated;
    case Sent::kLost:
      break;
  }
  return Fate::kDropped;
}

bool LinkDirection::make_room(std::uint32_t accounted, std::uint8_t priority, Instant now) {
  // An idle transmitter takes a frame of any size.
  if (waiting_->empty() && serializer_.wait(now) == Duration::zero()) return true;
  const std::uint64_t limit = serializer_.limit().value();
  const std::uint64_t wanted = queue(now).value() + accounted;
  if (wanted <= limit) return true;
  if (config_.discipline == config::QueueDiscipline::kTailDrop) return false;
  if (wanted - waiting_->bytes_below(priority) > limit) return false;
  while (queue(now).value() + accounted > limit) {
    const WaitingFrame victim = waiting_->evict();
    count_queue_drop(victim.priority);
    release(victim);
  }
  return true;
}

void LinkDirection::release(const WaitingFrame& frame) {
  for (std::uint8_t i = 0; i < frame.copies; ++i) released_.push_back(frame.frame);
}

void LinkDirection::count_queue_drop(std::uint8_t priority) {
  ++counters_.dropped_queue;
  ++(counters_.*DirectionCounters::kQueueFull[priority]);
}

LinkDirection::Fate LinkDirection::enqueue_waiting(WaitingFrame frame, Instant now) {
  if (!make_room(frame.accounted, frame.priority, now)) {
    count_queue_drop(frame.priority);
    return Fate::kDropped;
  }
  const bool twice = config_.duplicate > 0 && duplicate_random_.chance(config_.duplicate);
  if (twice && !is_full(2)) frame.copies = 2;
  waiting_->push(frame);
  advance(now);
  return frame.copies == 2 ? Fate::kDuplicated : Fate::kAccepted;
}

void LinkDirection::advance(Instant now) {
  while (true) {
    const Instant step = rate_steps_.next();
    const bool waits = waiting_ && !waiting_->empty();
    const Instant start =
        waits ? later(serializer_.busy_until(), waiting_->front().since()) : Instant::never();
    if (!step.is_never() && step <= now && step <= start) {
      serializer_.set_rate(rate_steps_.take());
      continue;
    }
    if (!waits || start > now) return;
    const WaitingFrame frame = waiting_->pop();
    // The transmitter is idle at `start`, so it takes the frame.
    const Instant departure = *serializer_.enqueue(frame.accounted, start);
    counters_.bytes_carried += frame.accounted;
    queue_peak_ = std::max(queue_peak_, departure - frame.since());
    if (launch(frame.frame, frame.bytes, departure, frame.copies == 2) == Sent::kLost)
      release(frame);
  }
}

LinkDirection::Sent LinkDirection::launch(FrameHandle frame, std::size_t frame_bytes,
                                          Instant departure, bool twice) {
  if (outage_ || outages_.is_out(departure)) {
    ++counters_.dropped_outage;
    return Sent::kLost;
  }
  if (const auto loss = loss_steps_.changed(departure)) loss_.set_probability(*loss);
  if (loss_.next_is_lost()) {
    ++counters_.dropped_loss;
    return Sent::kLost;
  }
  const Instant arrival = due(departure);
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
    push(entry, arrival);
  }
  if (!twice || line_.full()) return Sent::kOnItsWay;
  ++counters_.duplicated;
  entry.corrupt_bit = InFlight::kIntact;
  push(entry, later(order_from_, entry.due()));
  return Sent::kTwice;
}

void LinkDirection::push(InFlight entry, Instant due) {
  entry.due_nanoseconds = due.to_nanoseconds();
  order_from_ = due;
  if (due < last_due_) {
    // The delay has become shorter, so this frame overtakes earlier frames.
    line_.push_late(entry);
    return;
  }
  last_due_ = due;
  line_.push(entry);
}

Instant LinkDirection::due(Instant departure) {
  const auto [delay, shorter] = delay_.at(departure);
  if (shorter && config_.delay_order == config::DelayOrder::kOvertaking) order_from_ = Instant();
  Instant result = departure + delay;
  if (config_.jitter > Duration::zero()) {
    const auto span = static_cast<std::uint64_t>(config_.jitter.to_nanoseconds()) + 1;
    result += Duration::nanoseconds(static_cast<std::int64_t>(jitter_random_.below(span)));
  }
  return later(result, order_from_);
}

Instant LinkDirection::next_delivery() const {
  const Instant due = line_.next_due();
  if (!waiting_ || waiting_->empty()) return due;
  // The earliest time at which a waiting frame can arrive.
  const Instant waiting = serializer_.busy_until() + delay_.shortest_to_come();
  return earlier(due, earlier(waiting, rate_steps_.next()));
}

std::optional<FrameHandle> LinkDirection::take_released() {
  if (released_.empty()) return std::nullopt;
  const FrameHandle frame = released_.back();
  released_.pop_back();
  return frame;
}

ByteCount LinkDirection::queue(Instant now) const {
  return serializer_.backlog(now) + ByteCount(waiting_ ? waiting_->accounted_bytes() : 0);
}

Duration LinkDirection::queue_delay(Instant now) const {
  const Duration waiting = waiting_ && !waiting_->empty()
                               ? rate().time_for(ByteCount(waiting_->accounted_bytes()))
                               : Duration::zero();
  return serializer_.wait(now) + waiting;
}

std::optional<LinkDirection::Delivery> LinkDirection::poll(Instant now) {
  last_seen_ = now;
  advance(now);
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
  result.queue_bytes = queue(last_seen_).value();
  return result;
}

}  // namespace satrelay::link
