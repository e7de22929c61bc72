#include "relay/gateway/peers/peer.h"

#include <algorithm>
#include <stdexcept>

#include "pep/control/fixed_rate.h"
#include "pep/control/hpfp.h"
#include "pep/control/marchese_stp.h"
#include "pep/control/tps.h"

namespace satrelay::gateway {
namespace {

// What may leave at once: enough to bridge the gaps between two polls of a shared CPU, and far less
// than the 25 ms that the modem's queue is allowed.
constexpr Duration kBurst = Duration::milliseconds(4);
// How far frames that are not held back may push all others into the future.
constexpr Duration kBridgedDebt = Duration::milliseconds(20);

// A few frames must find room, however slow the carrier.
constexpr ByteCount kLeastHeld = ByteCount(64ULL << 10);

}  // namespace

Carrier::Carrier(const config::Link& link, std::size_t sources, std::size_t most_hosts)
    : config(link),
      pacer(link.send_rate.scaled(995, 1000), control::LinkOverhead{link.overhead}, kBurst,
            kBridgedDebt),
      classes(pacer.rate(), sources),
      host_shares(most_hosts),
      send_capacity(link.send_rate),
      receive_capacity(link.receive_rate) {}

ByteCount Carrier::held_limit(stp::ClassId traffic_class) const {
  return std::max(kLeastHeld, classes.expected_rate(traffic_class).bytes_in(config.bridged_queue));
}

BitRate Peer::commanded() const {
  BitRate least = carrier.send_capacity;
  if (!most_rate.is_zero()) least = std::min(least, most_rate);
  return least < carrier.config.send_rate ? least : BitRate();
}

std::unique_ptr<control::RateController> make_controller(const config::Link& link) {
  const config::RateControl& chosen = link.control;
  switch (chosen.controller) {
    case config::Controller::kFixedRate:
      return std::make_unique<control::FixedRate>(link.send_rate);
    case config::Controller::kHpfp:
      return std::make_unique<control::Hpfp>(
          control::Hpfp::Config{link.send_rate, chosen.target, chosen.period});
    case config::Controller::kTps:
      return std::make_unique<control::Tps>(control::Tps::Config{link.send_rate, chosen.window});
    case config::Controller::kStp:
      return std::make_unique<control::MarcheseStp>(
          control::MarcheseStp::Config{.capacity = link.send_rate,
                                       .initial_window = chosen.initial_window,
                                       .threshold = chosen.threshold,
                                       .growth = chosen.growth,
                                       .avoidance = chosen.avoidance_growth,
                                       .buffer = chosen.buffer});
  }
  throw std::invalid_argument("link " + link.name + ": no such controller");
}

}  // namespace satrelay::gateway
