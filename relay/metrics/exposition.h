// What a gateway tells, as metrics for Prometheus: https://prometheus.io/docs/practices/naming and
// https://prometheus.io/docs/instrumenting/writing_exporters say what they should look like.
//
// Names, help and units of counters come from their lists (pep/base/counter_fields.h):
//
//   bytes_in of a peer            satrelay_peer_in_bytes_total{peer="remote"}
//   time_ns of the codec          satrelay_compression_time_seconds_total
//   bridged_no_peer_prefix        satrelay_bridged_frames_total{reason="no_peer_prefix"}
//
// Everything is in seconds, bytes, bytes per second and ratios of 1. A state is one sample a value
// it may have, of which one is 1. What a gateway has not measured, or does not know, has no sample.
// The number of samples is bounded by the configuration, and by the limits below: flows are not
// told.
#pragma once

#include <cstddef>
#include <string>

#include "relay/metrics/exposition_writer.h"
#include "relay/metrics/readings.h"

namespace satrelay::metrics {

// Those behind them are left out and counted (satrelay_entries_left_out). Peers of each state are
// counted in satrelay_peers, however many there are.
inline constexpr std::size_t kMostExposedPeers = 500;
inline constexpr std::size_t kMostExposedRules = 500;

// `webhooks`: a list with `name` and the fields of WebhookCounters of each.
std::string expose(const Readings& readings, ExpositionFormat format,
                   const nlohmann::ordered_json& webhooks = nullptr);

}  // namespace satrelay::metrics
