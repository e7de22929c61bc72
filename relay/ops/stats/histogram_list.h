// All histograms of a gateway, for code that shows them, such as the metrics (docs/statistics.md).
#pragma once

#include <array>

#include "pep/base/histogram.h"
#include "pep/compress/codec_counters.h"
#include "relay/gateway/flows/completion.h"
#include "relay/gateway/uplink/class_counters.h"
#include "relay/ops/stats/worker_counters.h"

namespace satrelay::ops {

inline constexpr std::array<const HistogramField*, 5> kHistograms = {
    &kWorkerRound, &gateway::kFlowCompletion, &compress::kBlockCompression, &gateway::kRelayedWait,
    &gateway::kBridgedWait};

}  // namespace satrelay::ops
