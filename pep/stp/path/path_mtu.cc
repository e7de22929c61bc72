#include "pep/stp/path/path_mtu.h"

#include <algorithm>
#include <utility>

namespace satrelay::stp {

PathMtu::PathMtu(const Config& config) : config_(config) { start(config.maximum); }

void PathMtu::start(std::uint16_t peer_maximum) {
  maximum_ = std::min(config_.maximum, peer_maximum);
  base_ = std::min(config_.base, maximum_);
  floor_ = std::min(config_.floor, base_);
  limit_ = config_.known ? maximum_ : base_;
  raise_at_ = Instant::never();
  newest_large_received_ = 0;
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

// Ends a round after all its probes have arrived or are lost.
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
  // The next round probes sizes between the limit and the smallest lost size. If these two differ
  // by less than kResolution, a last round probes sizes up to the maximum.
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
    // A size is used as soon as a probe of this size has arrived.
    if (fate == Fate::kArrived && rungs_[i].size > limit_) limit_ = rungs_[i].size;
    if (++settled_ == count_) end_round(now);
    return true;
  }
  return false;
}

// A hash of the packet number selects which packets get another size. If every eighth packet was
// selected, these could always be packets with little content.
std::uint16_t PathMtu::limit_for(std::uint64_t number) const {
  if (doubt_ == Doubt::kNone) return limit_;
  constexpr std::uint64_t kGoldenRatio = 0x9E37'79B9'7F4A'7C15;
  const std::uint64_t turn = number * kGoldenRatio >> 61;
  if (doubt_ == Doubt::kSlight) return turn == 0 ? fallback() : limit_;
  if (turn == 0) return limit_;
  return turn == 4 ? floor_ : fallback();
}

void PathMtu::forget_suspicion() {
  doubt_ = Doubt::kNone;
  large_lost_ = lost_behind_small_ = 0;
  suspects_ = 0;
  first_suspect_ = last_counted_ = 0;
  oldest_small_behind_ = newest_small_behind_ = 0;
}

bool PathMtu::on_acknowledged(std::uint64_t number, std::size_t size, Instant now) {
  if (settle_probe(number, Fate::kArrived, now)) return true;
  if (is_large(size)) {
    newest_large_received_ = std::max(newest_large_received_, number);
    if (number > first_suspect_) forget_suspicion();
  } else if (size <= fallback() && large_lost_ > 0 && number > last_counted_) {
    if (oldest_small_behind_ == 0) oldest_small_behind_ = number;
    oldest_small_behind_ = std::min(oldest_small_behind_, number);
    newest_small_behind_ = std::max(newest_small_behind_, number);
    if (large_lost_ >= kManyLost) doubt_ = Doubt::kGrave;
  }
  return false;
}

bool PathMtu::on_lost(std::uint64_t number, std::size_t size, Instant now) {
  if (settle_probe(number, Fate::kLost, now)) return true;
  if (!is_large(size) || number < newest_large_received_) return false;
  if (large_lost_++ == 0) first_suspect_ = last_counted_ = number;
  // An outage drops small packets, too. So a lost large packet is a sign of a black hole only if a
  // small packet that was sent before it has arrived. Between two such signs, another small packet
  // must have been sent and have arrived.
  if (oldest_small_behind_ != 0 && oldest_small_behind_ < number) {
    ++lost_behind_small_;
    last_counted_ = number;
    oldest_small_behind_ = newest_small_behind_ > number ? newest_small_behind_ : 0;
  }
  if (large_lost_ < kLargeLost || lost_behind_small_ < kLostBehindSmall) return false;
  black_hole_ = true;
  too_large_ += suspects_;
  limit_ = fallback();
  newest_large_received_ = number;
  forget_suspicion();
  last_look_ = false;
  begin_round(maximum_, 1);
  return false;
}

PathMtu::Verdict PathMtu::take_verdict() {
  return std::exchange(black_hole_, false) ? Verdict::kBlackHole : Verdict::kFine;
}

// If the packet is larger than the limit, it was sent before the limit fell.
void PathMtu::on_counted(std::uint64_t number, std::size_t size) {
  if (size > limit_) {
    ++too_large_;
  } else if (is_large(size) && number >= newest_large_received_) {
    ++suspects_;
  }
}

std::uint64_t PathMtu::take_too_large() { return std::exchange(too_large_, 0); }

}  // namespace satrelay::stp
