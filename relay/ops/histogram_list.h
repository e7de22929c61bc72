// Every histogram that a gateway tells, for who shows them: docs/statistics.md, metrics.
#pragma once

#include <array>

#include "pep/base/histogram.h"
#include "pep/compress/codec_counters.h"
#include "relay/gateway/uplink/class_counters.h"
#include "relay/ops/worker_counters.h"

namespace satrelay::ops {

inline constexpr std::array<const HistogramField*, 4> kHistograms = {
    &kWorkerRound, &compress::kBlockCompression, &gateway::kRelayedWait, &gateway::kBridgedWait};

}  // namespace satrelay::ops
