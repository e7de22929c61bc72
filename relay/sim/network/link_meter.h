// Checks that a gateway never sends more than its link can carry. In any window of at least 20 ms,
// the gateway may send at most this number of octets, counted with the link's overhead as the modem
// counts them:
//
// 1.02 * window * rate + 4 ms * rate + allowance
//
// where `rate` and `allowance` (Limit::beside) are the highest values that applied in the window.
//
// The check is exact. It examines the windows that begin with a frame and end either 20 ms later or
// with a later frame; no other window can be worse. For a constant rate r, the worst window begins
// with the frame at which "octets sent before the frame - 1.02 * r * time" is lowest. This may
// become a different frame when a higher rate applies. So the meter divides the frames into groups
// by the highest limit that has applied since the frame. Each group keeps the lower convex hull of
// its frames over time and octets, in which the lowest value for any rate can be found. A frame
// costs a constant number of steps on average.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::sim {

class LinkMeter {
 public:
  static constexpr Duration kShortestWindow = Duration::milliseconds(20);

  struct Limit {
    BitRate rate;
    // Octets that are allowed in addition to the rate: whole packets, and trains of packets.
    ByteCount beside;
    friend bool operator==(const Limit&, const Limit&) = default;
  };
  // The kind of a frame, and whether the gateway itself made it.
  struct Sort {
    gateway::FrameKind kind = gateway::FrameKind::kMalformed;
    bool is_own = false;
  };

  // Adds a frame of `octets` octets, including the link's overhead, that the gateway sends. `limit`
  // applies from now on. `now` never decreases.
  void add(std::uint64_t octets, const Sort& sort, const Limit& limit, Instant now);
  // Describes the window that exceeds its limit most: its end, the numbers of octets sent and
  // allowed, and the kinds of frames. Windows that are still open count as well. Returns "" if no
  // window exceeds its limit.
  std::string worst();
  // Returns the number of octets by which the worst window exceeds its limit, or zero if none does.
  double excess();

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(gateway::FrameKind::kOtherIp) + 1;
  using Octets = std::array<std::uint64_t, 2 * kKinds>;
  // A point at which a window may begin: just before a frame.
  struct Start {
    Instant at;
    std::uint64_t before = 0;  // octets sent before the frame
    Octets of{};               // octets sent before the frame, by kind of frame
  };
  struct Recent {
    Start start;
    Limit limit;  // the highest limit that has applied since `start`
  };
  struct Group {
    Limit limit;
    std::deque<Start> hull;
  };
  struct Worst {
    double excess = 0;
    Duration window;
    Instant end;
    Limit limit;
    Octets of{};
  };
  static double allowed(const Limit& limit, Duration window);
  static void append(std::deque<Start>& hull, const Start& start);
  void age(Instant now);
  void settle();
  void raise(const Limit& limit);
  void look(const Start& start, const Limit& limit, Instant end);

  std::deque<Recent> recent_;  // starts that are not yet kShortestWindow old
  std::vector<Group> groups_;  // the group with the highest limit is first
  Limit limit_;
  std::uint64_t sent_ = 0;
  Octets sent_of_{};
  Worst worst_;
};

}  // namespace satrelay::sim
