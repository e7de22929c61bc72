// Knowledge of hosts that all workers of a gateway share.
#pragma once

#include <cstddef>

#include "relay/gateway/addresses/between_gateways.h"
#include "relay/gateway/addresses/far/far_families.h"
#include "relay/gateway/addresses/far/far_marks.h"
#include "relay/gateway/addresses/far/far_services.h"
#include "relay/gateway/addresses/far/peer_refusals.h"
#include "relay/gateway/addresses/filtering_database.h"
#include "relay/gateway/addresses/symmetric_paths.h"
#include "relay/gateway/frames/neighbours/awaited_answers.h"

namespace satrelay::gateway {

struct CommonKnowledge {
  // `peers` is the number of configured peers.
  CommonKnowledge(HashKey key, std::size_t peers)
      : stations(key),
        far_marks(key),
        far_services(key),
        far_families(key, peers),
        peer_refusals(key),
        symmetric_paths(key),
        between(key),
        awaited(key) {}

  FilteringDatabase stations;
  FarMarks far_marks;
  FarServices far_services;
  FarFamilies far_families;
  PeerRefusals peer_refusals;
  SymmetricPaths symmetric_paths;
  BetweenGateways between;
  AwaitedAnswers awaited;
};

}  // namespace satrelay::gateway
