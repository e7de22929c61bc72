// The largest datagram that the path carries, found while the path is used (DPLPMTUD, RFC 8899):
// starts at a base that any path carries, probes with larger packets, and falls back to the base
// when large packets vanish while small ones arrive. Sizes are UDP payload, numbers those of
// packets.
//
//   kSearching --no larger size passes, or none is left--> kComplete
//       ^                                                     |
//       +---- raise timer; black hole (at the base) ----------+
//
// The search goes in rounds, one round trip each. The first probes the maximum alone, since most
// paths carry it. If that is lost, each round probes a ladder of sizes at once, and the next one
// only what lies between the largest that arrived and the smallest that did not. A single loss says
// little on a path that loses packets anyway: the search ends only after a ladder up to the maximum
// of which nothing has arrived.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::stp {

class PathMtu {
 public:
  struct Config {
    std::uint16_t base = 1172;
    std::uint16_t maximum = 1472;
    bool known = false;  // starts at the maximum; only black holes are looked for
  };
  enum class State : std::uint8_t { kSearching, kComplete };
  enum class Verdict : std::uint8_t { kFine, kBlackHole };

  // PMTU_RAISE_TIMER, RFC 8899 section 5.1.1.
  static constexpr Duration kRaiseInterval = Duration::seconds(600);
  // Ladders end when less than this is left to win.
  static constexpr std::uint16_t kResolution = 8;
  // A black hole: so many large packets lost in a row, and so many small ones in between received.
  static constexpr int kLargeLost = 6;
  static constexpr int kSmallReceived = 3;

  explicit PathMtu(const Config& config);

  // A new session, whose peer takes datagrams up to `peer_maximum`.
  void start(std::uint16_t peer_maximum);
  std::uint16_t limit() const { return limit_; }
  State state() const { return state_; }
  // Whether packets of the present limit tell more about the path than small ones.
  bool is_raised() const { return limit_ > base_; }

  // The size of the next probe; 0 if none is due.
  std::uint16_t probe_due() const { return sent_ < count_ ? rungs_[sent_].size : 0; }
  // No more of this round: the packet should ask for a report.
  bool is_last_of_round() const { return sent_ + 1 >= count_; }
  void on_probe_sent(std::uint64_t number);
  // When a search begins by itself: at the end of PMTU_RAISE_TIMER.
  Instant next_timeout() const { return raise_at_; }
  void handle_timeout(Instant now);

  // What became of packet `number`. True if it was a probe: its loss is no sign of congestion, and
  // not the link's.
  bool on_acknowledged(std::uint64_t number, std::size_t size, Instant now);
  bool on_lost(std::uint64_t number, std::size_t size, Instant now);
  // Asks once after each of these; kBlackHole: the limit is the base from now on.
  Verdict take_verdict();

 private:
  enum class Fate : std::uint8_t { kWaiting, kArrived, kLost };
  struct Rung {
    std::uint16_t size = 0;
    std::uint64_t number = 0;
    Fate fate = Fate::kWaiting;
  };
  static constexpr std::size_t kRungs = 8;

  bool settle_probe(std::uint64_t number, Fate fate, Instant now);
  void begin_round(std::uint16_t up_to, std::size_t rungs);
  void end_round(Instant now);
  void complete(Instant now);
  void forget_suspicion();

  Config config_;
  std::uint16_t base_ = 0;
  std::uint16_t maximum_ = 0;
  State state_ = State::kComplete;
  std::uint16_t limit_ = 0;
  Instant raise_at_ = Instant::never();

  // The round: rungs from the largest size to the smallest.
  std::array<Rung, kRungs> rungs_{};
  std::uint16_t round_from_ = 0;  // the limit when it began
  bool last_look_ = false;
  std::size_t count_ = 0;
  std::size_t sent_ = 0;
  std::size_t settled_ = 0;

  // Suspicion of a black hole.
  std::uint64_t newest_large_received_ = 0;
  std::uint64_t first_suspect_ = 0;
  std::uint64_t newest_small_received_ = 0;
  int large_lost_ = 0;
  int small_received_ = 0;
  bool black_hole_ = false;
};

}  // namespace satrelay::stp
