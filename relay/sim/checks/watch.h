// Looks at a run while it goes on, every few seconds of virtual time, and changes nothing by
// looking: does every flow that could move move, and do the gateways' accounts add up?
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pep/base/time.h"
#include "relay/sim/network/network.h"

namespace satrelay::sim {

// What is wrong with a network now; empty: nothing.
using Inspection = std::function<std::string(Network&)>;

class Watch : public std::enable_shared_from_this<Watch> {
 public:
  // A flow with bytes owed, a reader that has read all it has, and a link that is up: how long
  // nothing may arrive of it. Beyond the longest of TCP's timers, several times.
  static constexpr Duration kStandstill = Duration::seconds(300);

  Watch(Network& network, std::vector<Inspection> inspections)
      : network_(&network), inspections_(std::move(inspections)) {}

  // From now on, until stop(). What it finds it throws, as std::runtime_error, out of the event
  // loop: what comes after the first difference is of no interest.
  void start();
  void stop() { network_ = nullptr; }

 private:
  // One direction of a flow.
  struct Way {
    std::uint64_t arrived = 0;
    bool ended = false;
    Instant since;  // the last movement, or the last time that none was owed
  };
  void look();
  void look_at_flows();
  void look_at_steps();
  void look_at_accounts();
  bool may_have_lost_a_reset(std::size_t flow, const Outcome& sender) const;
  void look_at(std::size_t flow, Way& way, const Outcome& sender, const Outcome& receiver);
  bool is_disturbed() const;

  Network* network_;
  std::vector<Inspection> inspections_;
  std::vector<Way> ways_;  // two a flow
};

}  // namespace satrelay::sim
