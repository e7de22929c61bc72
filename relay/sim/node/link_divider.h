// Divides the links of a gateway node among its workers, as the leading worker of satrelayd does.
#pragma once

#include <deque>
#include <optional>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "relay/gateway/shares/division.h"
#include "relay/sim/node/gateway_worker.h"

namespace satrelay::sim {

class LinkDivider {
 public:
  explicit LinkDivider(std::deque<GatewayWorker>& workers) : workers_(&workers) {}

  // Call this each time the workers have started. `config` is the configuration with which they
  // started.
  void begin(const config::Gateway& config, Instant now);
  // Divides the links if a tick is due. The ticks stop after no worker has sent for some time.
  void run(Instant now);
  Instant next_timeout() const { return ticks_ ? next_ : Instant::never(); }

 private:
  void divide(Instant now);

  std::deque<GatewayWorker>* workers_;
  std::optional<gateway::Division> division_;  // nullopt means that there is nothing to divide
  Instant next_;
  bool ticks_ = false;  // true if divide() is due at `next_`
};

}  // namespace satrelay::sim
