#include "relay/gateway/uplink/rates/line.h"

#include "pep/control/paced_rate.h"

namespace satrelay::gateway {
namespace {

// The uplink uses a new rate of a controller only if the rate has changed by more than 1/64.
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
// estimate. Call this only for carriers with controllers that find the capacity. link_rate_of()
// removes the margins of the controller, since the carrier applies them to all senders together.
// While the controller drains a queue, half of the found capacity is allowed. If the controller has
// not found a capacity yet and its session has something to send, returns its current rate, so that
// the rates of other controllers do not limit it.
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
