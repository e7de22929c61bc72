// Writes the values that a gateway reports as metrics for Prometheus, in the form of
// https://prometheus.io/docs/practices/naming and
// https://prometheus.io/docs/instrumenting/writing_exporters.
//
// Names, help texts and units of counters come from the counter lists (pep/base/counter_fields.h):
//
//   bytes_in of a peer            satrelay_peer_in_bytes_total{peer="remote"}
//   time_ns of the codec          satrelay_compression_time_seconds_total
//   bridged_no_peer_prefix        satrelay_bridged_frames_total{reason="no_peer_prefix"}
//
// All values are in seconds, bytes or bytes per second, or are ratios in which 1 means 100%. A
// state has a sample for each of its possible values: 1 for the present value, 0 for the other
// values. A value that a gateway has not measured, or does not know, has no sample. The
// configuration and the limits below bound the number of samples. Flows have no metrics.
#pragma once

#include <cstddef>
#include <string>

#include "relay/metrics/exposition_writer.h"
#include "relay/metrics/readings.h"

namespace satrelay::metrics {

// Peers and rules beyond these numbers are left out and counted (satrelay_entries_left_out).
// satrelay_peers counts all peers by their state, however many there are.
inline constexpr std::size_t kMostExposedPeers = 500;
inline constexpr std::size_t kMostExposedRules = 500;

// `webhooks` is a list. Each entry has a `name` and the fields of WebhookCounters.
std::string expose(const Readings& readings, ExpositionFormat format,
                   const nlohmann::ordered_json& webhooks = nullptr);

}  // namespace satrelay::metrics
