#include "relay/gateway/peers/lane.h"

#include <stdexcept>

#include "pep/control/capacity/capacity_finder.h"
#include "pep/control/fixed_rate.h"
#include "pep/control/hpfp.h"
#include "pep/control/marchese_stp.h"
#include "pep/control/tps.h"

namespace satrelay::gateway {
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
    case config::Controller::kFind:
      return std::make_unique<control::CapacityFinder>(link.send_rate);
  }
  throw std::invalid_argument("link " + link.name + ": no such controller");
}

}  // namespace satrelay::gateway
