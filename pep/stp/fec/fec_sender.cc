#include "pep/stp/fec/fec_sender.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "pep/base/check.h"

namespace satrelay::stp {

FecSender::FecSender(const FecCodec& codec, const FecPolicy& policy, PartOfTime& time,
                     std::size_t max_datagram)
    : codec_(codec),
      policy_(policy),
      time_(time),
      stride_(symbol_stride(max_datagram)),
      source_(stride_) {}

std::size_t FecSender::repairs_for(const Window& window, std::size_t sources) const {
  return std::max<std::size_t>(policy_.repairs_for(sources), window.purpose.opens ? 1 : 0);
}

// Divides the expected packets into equal windows, and uses as few windows as possible. A window
// has at most kMaxCodedWindow packets, and at most as many as `most_repairs` are enough for.
void FecSender::divide(Window& window, std::size_t packets, std::size_t most_repairs) const {
  const auto part = [packets](std::size_t longest) {
    const std::size_t windows = (packets + longest - 1) / longest;
    return (packets + windows - 1) / windows;
  };
  window.most_sources = part(kMaxCodedWindow);
  window.repairs = repairs_for(window, window.most_sources);
  if (window.repairs <= most_repairs) return;
  window.most_sources = part(policy_.sources_for(most_repairs, window.most_sources));
  window.repairs = std::min(most_repairs, repairs_for(window, window.most_sources));
}

// Takes the time for all sums of a window when it begins, so that the time does not run out in the
// middle. If there is too little time, the window becomes shorter. If there is not even time for a
// short window, it gets few repairs.
void FecSender::take_time(Window& window, Instant now) {
  while (window.repairs > kFewRepairs) {
    window.additions = window.repairs * window.most_sources;
    if (time_.take(window.additions, now)) return;
    window.additions = 0;
    if (window.most_sources <= kSmallWindow) {
      window.repairs = kFewRepairs;
      ++starved_;
      return;
    }
    window.most_sources = std::max(window.most_sources / 2, kSmallWindow);
    window.repairs = std::min(window.repairs, repairs_for(window, window.most_sources));
  }
}

void FecSender::give_time_back(Window& window) {
  if (window.additions > 0) time_.give_back(std::exchange(window.additions, 0));
}

void FecSender::open(std::uint64_t number, const Purpose& purpose, const Plan& plan, Instant now) {
  SATRELAY_CHECK(count_ < kWindows);
  if (count_ == 0)
    first_ = 0;  // reuse the first slots, as the pages of the other slots may take no memory yet
  // Not initialized: pages that are never used take no memory.
  if (!sums_) sums_.reset(new std::byte[kWindows * FecPolicy::kMostRepairs * stride_]);
  ++count_;
  has_open_ = true;
  Window& window = open_window();
  window = Window();
  window.first = number;
  window.first_index = next_index_;
  window.purpose = purpose;
  window.opened = now;
  const std::size_t packets = std::max(plan.packets, kSmallWindow);
  divide(window, packets, std::clamp<std::size_t>(plan.repairs, 1, FecPolicy::kMostRepairs));
  take_time(window, now);
  window.first_row = next_row_;
  next_row_ = static_cast<std::uint16_t>(next_row_ + window.repairs);
}

void FecSender::add(std::uint64_t number, ConstBytes frames, const Purpose& purpose,
                    const Plan& plan, Instant now) {
  SATRELAY_CHECK(kSymbolHeaderSize + frames.size() <= stride_);
  // A packet with an OPEN must be covered by at least one repair. If the open window has no unsent
  // repair, begin a new window.
  if (has_open_ && purpose.opens && open_window().repairs == open_window().sent) {
    close(number, now);
  }
  if (!has_open_) {
    SATRELAY_CHECK(count_ < kWindows);
    open(number, purpose, plan, now);
  }
  Window& window = open_window();
  const std::size_t size = source_.assign(number, frames);
  window.size = std::max(window.size, size);
  const std::size_t unsent = window.repairs - window.sent;
  if (const std::size_t padded = FecCodec::padded(window.size); padded > window.begun) {
    for (std::size_t row = window.sent; row < window.repairs; ++row) {
      std::memset(sum(window, row) + window.begun, 0, padded - window.begun);
    }
    window.begun = padded;
  }
  std::array<std::byte*, FecPolicy::kMostRepairs> sums;
  for (std::size_t i = 0; i < unsent; ++i) sums[i] = sum(window, window.sent + i);
  codec_.add(next_index_, source_.padded(size),
             static_cast<std::uint16_t>(window.first_row + window.sent),
             std::span(sums).first(unsent));
  window.additions -= std::min(window.additions, unsent);
  ++next_index_;
  window.purpose.merge(purpose);
  window.last_added = last_used_ = now;
  window.end = number + 1;
  if (++window.sources == window.most_sources) close(number + 1, now);
}

void FecSender::close(std::uint64_t next_number, Instant now) {
  Window& window = open_window();
  has_open_ = false;
  give_time_back(window);
  window.is_full = window.sources == window.most_sources;
  window.repairs =
      std::min(window.repairs, std::max(window.sent, repairs_for(window, window.sources)));
  if (window.repairs == window.sent) {
    --count_;
    return;
  }
  window.closed = now;
  window.closed_before = next_number;
  pending_ += window.repairs - window.sent;
}

// How long to wait for another packet before the window ends. Between the packets of a window, bulk
// packets that are not covered may be sent. So the wait is proportional to the average gap between
// the packets of the window.
Duration FecSender::lull(const Window& window, Waiting waiting) {
  if (waiting == Waiting::kNothing) return kLull;
  if (waiting == Waiting::kShort || window.sources < 2) return kLongestLull;
  const Duration gap =
      (window.last_added - window.opened) / static_cast<std::int64_t>(window.sources - 1);
  return std::clamp(gap * kGapsOfLull, kLull, kLongestLull);
}

Instant FecSender::close_at(Waiting waiting, Duration round_trip) const {
  if (!has_open_) return Instant::never();
  const Window& window = open_window();
  return earlier(window.last_added + lull(window, waiting), window.opened + round_trip);
}

void FecSender::pop_front() {
  pending_ -= front().repairs - front().sent;
  first_ = (first_ + 1) % kWindows;
  --count_;
}

std::size_t FecSender::drop_next() {
  if (count_ == 0) return 0;
  const std::size_t unsent = front().repairs - front().sent;
  if (front_is_closed()) {
    pop_front();
  } else {
    open_window().repairs = open_window().sent;
    give_time_back(open_window());
  }
  return unsent;
}

std::size_t FecSender::advance(Waiting waiting, std::uint64_t next_number, Duration round_trip,
                               Instant now) {
  if (now >= close_at(waiting, round_trip)) close(next_number, now);
  std::size_t dropped = 0;
  // Drop the repairs of a window if a round trip has passed, because a report on its packets then
  // arrives before a repair can help. Also drop them if the receiver no longer keeps these packets.
  while (front_is_closed() && (now >= front().closed + round_trip || next_is_out_of_reach())) {
    dropped += drop_next();
  }
  if (now >= idle_at()) sums_.reset();
  return dropped;
}

bool FecSender::is_early_due() const {
  if (count_ != 1 || !has_open_) return false;
  const Window& window = open_window();
  return window.purpose.ends && window.sent < window.repairs &&
         static_cast<double>(window.sources) * policy_.loss() * kEarly >=
             static_cast<double>(window.sent + 1);
}

// The result is limited, because the receiver must still keep the packets of the window when the
// repairs of the window arrive.
std::size_t FecSender::courtesy() const {
  return std::min(kCourtesy, (kReach - front().sources) / 2);
}

std::size_t FecSender::spread() const {
  const std::size_t over = std::min(front().sources, (kReach - front().sources) / 2);
  return over / (front().repairs + 1);
}

// Whether enough packets were sent before the next repair, or there is no slot for another window.
bool FecSender::is_behind_others(std::uint64_t next_number) const {
  return count_ == kWindows || (next_number >= front().closed_before + courtesy() &&
                                next_number - last_repair_number_ > spread());
}

bool FecSender::ready(Waiting waiting, std::uint64_t next_number, Instant now) const {
  if (!front_is_closed()) return is_early_due();
  const Window& window = front();
  const bool is_quick = window.is_full && window.closed - window.opened <= kSpread;
  const bool is_long_end = window.purpose.ends && (window.sources > kSmallWindow || is_quick);
  const bool is_share = next_number - last_repair_number_ >= kShare;
  switch (waiting) {
    case Waiting::kNothing:
      return is_long_end || now >= next_on_idle_;
    case Waiting::kOwn:
      return is_long_end || (front().purpose.ends ? is_share : is_behind_others(next_number));
    case Waiting::kBulk:
      return is_long_end || is_share;
    case Waiting::kOther:
      return is_share;
    case Waiting::kShort:
      return is_behind_others(next_number);
  }
  return false;
}

Instant FecSender::next_repair(Waiting waiting, std::uint64_t next_number, Instant now) const {
  if (ready(waiting, next_number, now)) return now;
  return front_is_closed() && waiting == Waiting::kNothing ? next_on_idle_ : Instant::never();
}

Instant FecSender::next_timeout(Waiting waiting, Duration round_trip) const {
  const Instant at = close_at(waiting, round_trip);
  return front_is_closed() ? earlier(at, front().closed + round_trip) : at;
}

bool FecSender::write(ByteWriter& out, std::uint64_t own_number, Instant now) {
  Window& window = windows_[first_];
  if (out.remaining() < kRepairHeaderSize + window.size) return false;
  RepairFrame frame;
  frame.code = FecCode::kFlight;
  frame.first = window.first_index;
  frame.count = static_cast<std::uint16_t>(window.sources);
  frame.row = static_cast<std::uint16_t>(window.first_row + window.sent);
  frame.symbol = ConstBytes(sum(window, window.sent), window.size);
  write_repair(out, frame);
  history_.on_repair({window.first, window.end}, now);
  ++window.sent;
  last_repair_number_ = own_number;
  if (!front_is_closed()) return true;
  --pending_;
  // The repairs of a long window need no gaps: there are enough of them to survive a burst of
  // losses.
  const bool is_long = window.sources > kSmallWindow;
  next_on_idle_ =
      is_long ? now : now + std::min(kGap, kSpread / static_cast<std::int64_t>(pending_ + 1));
  if (window.sent == window.repairs) pop_front();
  return true;
}

void FecSender::clear() {
  if (has_open_) give_time_back(open_window());
  sums_.reset();
  first_ = count_ = pending_ = 0;
  has_open_ = false;
  last_repair_number_ = 0;
  history_.clear();
}

}  // namespace satrelay::stp
