// Inspects a run every few seconds of virtual time, without changing the run. Each flow that can
// make progress must make progress, and the counts in each gateway must be consistent
// (GatewayNode::audit()).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pep/base/time.h"
#include "relay/sim/network/network.h"

namespace satrelay::sim {

// Returns a text if something is wrong with the network now, otherwise an empty text.
using Inspection = std::function<std::string(Network&)>;

class Watch : public std::enable_shared_from_this<Watch> {
 public:
  // The longest time in which a flow may deliver nothing. It applies while the link is up, the
  // sender has written more bytes than have arrived, and the receiver has read all bytes that have
  // arrived. It is several times longer than TCP's timers.
  static constexpr Duration kStandstill = Duration::seconds(300);

  Watch(Network& network, std::vector<Inspection> inspections)
      : network_(&network), inspections_(std::move(inspections)) {}

  // Inspects the network from now on, until stop(). If an inspection fails, the event loop throws
  // std::runtime_error, since the rest of the run is of no interest.
  void start();
  void stop() { network_ = nullptr; }

 private:
  // One direction of a flow.
  struct Way {
    std::uint64_t arrived = 0;
    bool ended = false;
    // Time at which bytes last arrived, or at which the receiver last had nothing to wait for.
    Instant since;
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
  std::vector<Way> ways_;  // two for each flow
};

}  // namespace satrelay::sim
