// Checks that a gateway never sends more on its link than the link carries. In any window of at
// least 20 ms, the octets sent, counted with the link's overhead as the modem counts them, are at
// most
//
// 1.02 * window * rate + 4 ms * rate + allowance
//
// where `rate` and `allowance` (Limit::beside) are the highest values in force in the window.
//
// The check is exact. It looks at windows that begin with a frame and end 20 ms later or with a
// later frame; no other window can be worse. For a constant rate r the worst window begins with the
// frame before which "octets sent - 1.02 * r * time" was lowest. When a higher rate comes into
// force, that frame may change. So frames form groups by the highest limit that was in force since
// the frame, and each group keeps the lower convex hull of its frames over time and octets, on
// which the lowest value can be found for any rate. A frame costs a constant number of steps on
// average.
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
    ByteCount beside;  // octets allowed beyond the rate: whole packets, and trains of packets
    friend bool operator==(const Limit&, const Limit&) = default;
  };
  // The kind of a frame, and whether the gateway made it.
  struct Sort {
    gateway::FrameKind kind = gateway::FrameKind::kMalformed;
    bool is_own = false;
  };

  // Counts a frame of `octets` octets that the gateway sends, with the link's overhead. `limit` is
  // in force from now on. `now` never goes backwards.
  void add(std::uint64_t octets, const Sort& sort, const Limit& limit, Instant now);
  // Describes the window that exceeds its limit most: its end, the octets sent and allowed, and the
  // kinds of frames. Windows that have not ended yet count as well. Returns "" if no window exceeds
  // its limit.
  std::string worst();
  // Returns by how many octets the worst window exceeds its limit, or zero if none does.
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
    Limit limit;  // the highest limit in force since `start`
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

  std::deque<Recent> recent_;  // starts that are younger than kShortestWindow
  std::vector<Group> groups_;  // highest limit first
  Limit limit_;
  std::uint64_t sent_ = 0;
  Octets sent_of_{};
  Worst worst_;
};

}  // namespace satrelay::sim
