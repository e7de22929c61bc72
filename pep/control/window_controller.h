// The interface of a window-based congestion controller (TCP towards the LAN). A controller sees
// samples and not the connection, so the same code runs in unit tests and simulations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay::control {

struct AckSample {
  std::uint64_t newly_acknowledged = 0;  // bytes, by cumulative and selective ACKs
  std::uint64_t bytes_in_flight = 0;     // before this ACK
  Duration rtt;                          // RTT sample of this ACK; zero if there is none
  Duration smoothed_rtt;                 // zero before the first sample
  bool in_recovery = false;
  Instant now;
};

struct LossSample {
  std::uint64_t bytes_in_flight = 0;  // FlightSize (RFC 5681)
  Instant now;
};

inline constexpr std::uint64_t kNoThreshold = std::numeric_limits<std::uint64_t>::max();

class WindowController {
 public:
  virtual ~WindowController() = default;
  virtual void on_ack(const AckSample& sample) = 0;
  virtual void on_loss(const LossSample& sample) = 0;  // called once per recovery episode
  virtual void on_recovery_exit(Instant now) = 0;
  virtual void on_timeout(const LossSample& sample) = 0;  // RTO
  virtual void on_idle_restart() = 0;                     // RFC 5681 section 4.1
  // Called when the path carries smaller segments than before.
  virtual void set_segment_size(std::uint32_t segment_size) = 0;
  virtual std::uint64_t window() const = 0;  // cwnd, bytes
  // In bytes. kNoThreshold means that there was no loss yet. Then on_idle_restart() makes the
  // controller equal to a new one.
  virtual std::uint64_t slow_start_threshold() const = 0;
  virtual void image(Image& image) = 0;
};

// Larger than any window that a peer can advertise, and small enough to keep the arithmetic far
// from overflow.
inline constexpr std::uint64_t kLargestWindow = std::uint64_t{1} << 32;

// RFC 6928: ten segments, or fewer if they are large.
constexpr std::uint64_t initial_window(std::uint64_t segment_size) {
  constexpr std::uint64_t kBytes = 14'600;
  return std::min(10 * segment_size, std::max(2 * segment_size, kBytes));
}

enum class Congestion : std::uint8_t {
  kCubic,    // RFC 9438
  kNewReno,  // RFC 5681 with RFC 6582 recovery
};
std::unique_ptr<WindowController> make_window_controller(Congestion congestion,
                                                         std::uint32_t segment_size);

}  // namespace satrelay::control
