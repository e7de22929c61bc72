// The counters of a port since it was opened.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"

namespace satrelay::dpdk {

struct PortStats {
  std::uint64_t rx_frames = 0, rx_bytes = 0, rx_large = 0;
  std::uint64_t tx_frames = 0, tx_bytes = 0, tx_large = 0;
  std::uint64_t rx_missed = 0, rx_errors = 0, rx_no_buffer = 0;
  std::uint64_t rx_oversized = 0, rx_merged = 0, rx_joined = 0;
  std::uint64_t rx_checksums_finished = 0, rx_checksums_verified = 0;
  std::uint64_t tx_errors = 0, tx_unsent = 0, tx_down = 0;

  static constexpr std::array<CounterField<PortStats>, 17> kFields{{
      {"rx_frames", &PortStats::rx_frames, "frames received"},
      {"rx_bytes", &PortStats::rx_bytes, "bytes received", CounterUnit::kBytes},
      {"rx_large", &PortStats::rx_large, "large frames received, and cut into smaller ones"},
      {"tx_frames", &PortStats::tx_frames, "frames sent"},
      {"tx_bytes", &PortStats::tx_bytes, "bytes sent", CounterUnit::kBytes},
      {"tx_large", &PortStats::tx_large, "large frames sent, made of smaller ones"},
      {"rx_missed", &PortStats::rx_missed,
       "frames lost: no room in the device's or the kernel's ring"},
      {"rx_errors", &PortStats::rx_errors, "errors that the device counts"},
      {"rx_no_buffer", &PortStats::rx_no_buffer, "frames lost: no free packet buffer"},
      {"rx_oversized", &PortStats::rx_oversized,
       "large TCP segments longer than the MTU, cut to fit it"},
      {"rx_merged", &PortStats::rx_merged,
       "frames dropped: longer than the MTU, and they cannot be cut"},
      {"rx_joined", &PortStats::rx_joined, "frames that the device had put in several buffers"},
      {"rx_checksums_finished", &PortStats::rx_checksums_finished,
       "checksums that a sender on this machine left unfinished"},
      {"rx_checksums_verified", &PortStats::rx_checksums_verified,
       "TCP and UDP checksums that the device found correct"},
      {"tx_errors", &PortStats::tx_errors, "frames that the device took, and did not send"},
      {"tx_unsent", &PortStats::tx_unsent, "frames dropped: the device did not take them"},
      {"tx_down", &PortStats::tx_down,
       "frames dropped: the interface was off or gone, or the device had no link"},
  }};
};
static_assert(lists_every_counter<PortStats>());

}  // namespace satrelay::dpdk
