// All workers of a gateway learn this together about hosts.
#pragma once

#include "relay/gateway/addresses/far_marks.h"
#include "relay/gateway/addresses/filtering_database.h"

namespace satrelay::gateway {

struct CommonKnowledge {
  explicit CommonKnowledge(HashKey key) : stations(key), far_marks(key) {}

  FilteringDatabase stations;
  FarMarks far_marks;
};

}  // namespace satrelay::gateway
