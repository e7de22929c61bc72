// The Satellite Transport Protocol of Marchese: TCP's window with configurable parameters (table
// 1). Loss is attributed to the channel (section V).
//
//   cwnd = IW; ssthresh = Th; slow start: cwnd += F per ACK; avoidance: cwnd += G per round trip
//   TW = min{cwnd, min(source buffer, rwnd)}, rwnd = half of the receiver's buffer
#pragma once

#include <cstdint>

#include "pep/control/rate_controller.h"

namespace satrelay::control {

class MarcheseStp final : public RateController {
 public:
  struct Config {
    BitRate capacity;                  // of the carrier
    std::uint32_t initial_window = 6;  // IW, packets
    std::uint32_t threshold = 0;       // Th, packets; 0 for no threshold
    std::uint32_t growth = 10;         // F, packets for each ACK
    std::uint32_t avoidance = 1;       // G, packets for each round trip
    // The buffer at either end, including the IP layer. Zero stands for a buffer that keeps the
    // link busy (section IV): twice what the link carries in a round trip and two report intervals.
    ByteCount buffer = ByteCount(0);
  };
  explicit MarcheseStp(const Config& config) : config_(config) {}

  void on_start(const StartSample& sample) override;
  void on_feedback(const FeedbackSample& sample) override;
  void on_capacity(BitRate capacity) override { config_.capacity = capacity; }
  BitRate rate() const override;
  bool is_steady() const override { return true; }
  ByteCount window() const override;  // TW
  ByteCount congestion_window() const { return ByteCount(window_); }

 private:
  Config config_;
  ByteCount packet_ = ByteCount(1500);
  Duration rtt_ = Duration::milliseconds(600);
  Duration report_interval_;
  std::uint64_t window_ = 1;        // cwnd, bytes
  std::uint64_t acknowledged_ = 0;  // bytes towards the next growth in avoidance
};

}  // namespace satrelay::control
