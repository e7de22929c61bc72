#include "relay/gateway/uplink/rates/line.h"

#include "pep/control/paced_rate.h"

namespace satrelay::gateway {
namespace {

// The uplink adopts the rate of a controller only if it has changed by more than 1/64 of the rate.
constexpr std::uint64_t kNotable = 64;

}  // namespace

void Line::apply_limits() {
  using enum control::CutCause;
  capacity = carrier.config.send_rate;
  control::CutCause cause = kConfigured;
  const auto apply = [&](BitRate rate, control::CutCause by) {
    if (rate.is_zero() || rate >= capacity) return;
    capacity = rate;
    cause = by;
  };
  apply(carrier.send_capacity, kCommanded);
  apply(session.peer_capacity(), kAnnounced);
  apply(most_rate, kCommanded);
  capacity = std::max(capacity, kLeastCapacity);
  session.set_capacity(capacity, cause);
  allowed = carrier.config.finds_capacity() ? allowed_by_controller() : BitRate();
  has_found = !session.path().found_capacity().is_zero();
}

// Returns the rate that the session's controller allows on the whole carrier; zero if there is no
// estimate. Call this only for carriers that find their capacity. The controller's rate is below
// the found capacity. Its margins, for inexact measurement, the modem's queue and other traffic,
// apply to all senders on the carrier together. While the controller lowers its rate to drain a
// queue, the carrier may still use half of the found capacity. A controller that has not found a
// capacity yet counts with its current rate while its session has something to send. Otherwise the
// rates that other controllers have found would limit it.
BitRate Line::allowed_by_controller() const {
  if (session.peer_state() != stp::PeerState::kAlive) return {};
  const BitRate found = session.path().found_capacity();
  const BitRate rate = session.path().send_rate();
  if (found.is_zero()) return session.waiting() != 0 ? rate : BitRate();
  return control::link_rate_of(std::max(rate, found.scaled(1, 2)));
}

bool Line::has_other_rate() const {
  const BitRate next = allowed_by_controller();
  const BitRate notable = allowed.scaled(1, kNotable);
  const bool same =
      next.is_zero() == allowed.is_zero() &&
      next.to_bits_per_second() + notable.to_bits_per_second() >= allowed.to_bits_per_second() &&
      next.to_bits_per_second() <= allowed.to_bits_per_second() + notable.to_bits_per_second();
  return !same;
}

}  // namespace satrelay::gateway
