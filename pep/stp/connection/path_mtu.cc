#include "pep/stp/connection/path_mtu.h"

#include <algorithm>
#include <utility>

namespace satrelay::stp {

PathMtu::PathMtu(const Config& config) : config_(config) { start(config.maximum); }

void PathMtu::start(std::uint16_t peer_maximum) {
  maximum_ = std::min(config_.maximum, peer_maximum);
  base_ = std::min(config_.base, maximum_);
  limit_ = config_.known ? maximum_ : base_;
  raise_at_ = Instant::never();
  newest_large_received_ = 0;
  newest_small_received_ = 0;
  forget_suspicion();
  count_ = sent_ = settled_ = 0;
  last_look_ = false;
  state_ = State::kComplete;
  if (limit_ < maximum_) begin_round(maximum_, 1);
}

void PathMtu::begin_round(std::uint16_t up_to, std::size_t rungs) {
  state_ = State::kSearching;
  raise_at_ = Instant::never();
  const unsigned span = up_to - limit_;
  count_ = std::min<std::size_t>(rungs, span);
  round_from_ = limit_;
  sent_ = settled_ = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t step = count_ - i;
    rungs_[i] = {static_cast<std::uint16_t>(limit_ + span * step / count_), 0, Fate::kWaiting};
  }
}

void PathMtu::complete(Instant now) {
  state_ = State::kComplete;
  last_look_ = false;
  count_ = sent_ = settled_ = 0;
  raise_at_ = limit_ < maximum_ ? now + kRaiseInterval : Instant::never();
}

// Every probe of the round has arrived or is lost.
void PathMtu::end_round(Instant now) {
  const bool was_single = count_ == 1;
  std::uint16_t smallest_lost = rungs_[0].size;
  for (std::size_t i = 0; i < count_; ++i) {
    if (rungs_[i].fate == Fate::kArrived) break;
    smallest_lost = rungs_[i].size;
  }
  if (limit_ >= maximum_) return complete(now);
  if (was_single) return begin_round(maximum_, kRungs);
  const bool in_vain = limit_ == round_from_;
  if (last_look_ && in_vain) return complete(now);
  // Between two rungs; and if there is next to nothing, a last look at all that is above.
  last_look_ = !last_look_ && smallest_lost - limit_ < kResolution;
  begin_round(last_look_ ? maximum_ : smallest_lost, kRungs);
}

void PathMtu::handle_timeout(Instant now) {
  if (state_ == State::kComplete && now >= raise_at_) begin_round(maximum_, 1);
}

void PathMtu::on_probe_sent(std::uint64_t number) { rungs_[sent_++].number = number; }

bool PathMtu::settle_probe(std::uint64_t number, Fate fate, Instant now) {
  for (std::size_t i = 0; i < sent_; ++i) {
    if (rungs_[i].number != number || rungs_[i].fate != Fate::kWaiting) continue;
    rungs_[i].fate = fate;
    // What has arrived is of use at once.
    if (fate == Fate::kArrived && rungs_[i].size > limit_) limit_ = rungs_[i].size;
    if (++settled_ == count_) end_round(now);
    return true;
  }
  return false;
}

void PathMtu::forget_suspicion() {
  large_lost_ = small_received_ = 0;
  first_suspect_ = 0;
}

bool PathMtu::on_acknowledged(std::uint64_t number, std::size_t size, Instant now) {
  if (settle_probe(number, Fate::kArrived, now)) return true;
  if (size > base_) {
    newest_large_received_ = std::max(newest_large_received_, number);
    if (number > first_suspect_) forget_suspicion();
  } else if (large_lost_ > 0 && number > first_suspect_ && number > newest_small_received_) {
    newest_small_received_ = number;
    ++small_received_;
  }
  return false;
}

bool PathMtu::on_lost(std::uint64_t number, std::size_t size, Instant now) {
  if (settle_probe(number, Fate::kLost, now)) return true;
  if (size <= base_ || number < newest_large_received_ || !is_raised()) return false;
  if (large_lost_++ == 0) first_suspect_ = number;
  // An outage eats small packets, too; and what was sent before the newest small one that arrived
  // may have been lost in it.
  if (large_lost_ < kLargeLost || small_received_ < kSmallReceived ||
      number < newest_small_received_) {
    return false;
  }
  black_hole_ = true;
  limit_ = base_;
  newest_large_received_ = number;
  forget_suspicion();
  last_look_ = false;
  begin_round(maximum_, 1);
  return false;
}

PathMtu::Verdict PathMtu::take_verdict() {
  return std::exchange(black_hole_, false) ? Verdict::kBlackHole : Verdict::kFine;
}

}  // namespace satrelay::stp
