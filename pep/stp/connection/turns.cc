#include "pep/stp/connection/turns.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace satrelay::stp {

Turns::Turns(std::size_t peers, const Pace& pace)
    : pace_(pace), peers_(peers), line_(peers), earned_(Instant() - pace.interval * pace.at_once) {
  static_assert(kLanes <= std::numeric_limits<Lanes>::digits, "a bit for each lane");
}

bool Turns::take(const Who& who, Instant now) {
  serve(now);
  Peer& peer = peers_[who.peer];
  if (has(peer.served, who.lane)) {
    peer.served &= static_cast<Lanes>(~bit(who.lane));
    return true;
  }
  if (first_ == end_ && turn_after(0) <= now) {
    spend(now);
    peer.last_lane = who.lane;
    return true;
  }
  peer.waiting |= bit(who.lane);
  if (!peer.stands_in_line) line_up(who.peer);
  return false;
}

Instant Turns::due(const Who& who) const {
  const Peer& peer = peers_[who.peer];
  return has(peer.served, who.lane) ? Instant() : turn_after(peer.place - first_);
}

void Turns::leave(const Who& who) {
  Peer& peer = peers_[who.peer];
  peer.waiting &= static_cast<Lanes>(~bit(who.lane));
  peer.served &= static_cast<Lanes>(~bit(who.lane));
}

Instant Turns::turn_after(std::uint64_t others) const {
  const auto count = static_cast<std::int64_t>(others);
  return later(earned_ + pace_.interval * count, after_gap_ + pace_.gap * count);
}

void Turns::spend(Instant at) {
  earned_ = later(earned_, at - pace_.interval * (pace_.at_once - 1)) + pace_.interval;
  after_gap_ = at + pace_.gap;
}

// Gives the available turns to the peers in line.
void Turns::serve(Instant now) {
  while (first_ != end_) {
    const Instant at = turn_after(0);
    if (at > now) return;
    const std::uint32_t index = line_[first_ % line_.size()];
    Peer& peer = peers_[index];
    ++first_;
    peer.stands_in_line = false;
    if (peer.waiting == 0) continue;  // no lane of this peer waits any more
    serve(peer);
    spend(at);
    if (peer.waiting != 0) line_up(index);
  }
}

// Gives the turn to the next waiting lane of the peer.
void Turns::serve(Peer& peer) {
  const unsigned above = peer.waiting & ~((2U << peer.last_lane) - 1U);
  const unsigned candidates = above != 0 ? above : peer.waiting;
  peer.last_lane = static_cast<std::uint8_t>(std::countr_zero(candidates));
  peer.waiting &= static_cast<Lanes>(~bit(peer.last_lane));
  peer.served |= bit(peer.last_lane);
}

void Turns::line_up(std::uint32_t peer) {
  peers_[peer].stands_in_line = true;
  peers_[peer].place = end_;
  line_[end_ % line_.size()] = peer;
  ++end_;
}

}  // namespace satrelay::stp
