// The largest datagram that the path carries, found while the path is used (DPLPMTUD, RFC 8899):
// starts at a base that nearly any path carries, probes with larger packets, and falls back when
// large packets vanish while small ones arrive: to the base, and from there to the floor. Sizes are
// UDP payload, numbers those of packets.
//
//   kSearching --no larger size passes, or none is left--> kComplete
//       ^                                                     |
//       +---- raise timer; black hole (at the fallback) ------+
//
// The search goes in rounds, one round trip each. The first probes the maximum alone, since most
// paths carry it. If that is lost, each round probes a ladder of sizes at once, and the next one
// only what lies between the largest that arrived and the smallest that did not. A single loss says
// little on a path that loses packets anyway: the search ends only after a ladder up to the maximum
// of which nothing has arrived.
//
// A black hole looks like an outage until small packets are seen to arrive. So once a report is
// late one of eight packets is as small as the fallback, which costs next to nothing. Where reports
// stay away most are: they get through a black hole at once, and the few large ones between them
// are the evidence.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::stp {

class PathMtu {
 public:
  struct Config {
    std::uint16_t base = 1172;
    std::uint16_t floor = 548;  // what any path carries: MIN_PLPMTU, RFC 8899 section 5.1.2
    std::uint16_t maximum = 1472;
    bool known = false;  // starts at the maximum; only black holes are looked for
  };
  enum class State : std::uint8_t { kSearching, kComplete };
  enum class Verdict : std::uint8_t { kFine, kBlackHole };

  // PMTU_RAISE_TIMER, RFC 8899 section 5.1.1.
  static constexpr Duration kRaiseInterval = Duration::seconds(600);
  // Ladders end when less than this is left to win.
  static constexpr std::uint16_t kResolution = 8;
  // A black hole: so many large packets lost in a row, and so often one of them behind a small one
  // that arrived.
  static constexpr int kLargeLost = 6;
  static constexpr int kLostBehindSmall = 3;
  // More than a burst of losses, or a queue that overflows.
  static constexpr int kManyLost = 64;

  explicit PathMtu(const Config& config);

  // A new session, whose peer takes datagrams up to `peer_maximum`.
  void start(std::uint16_t peer_maximum);
  std::uint16_t limit() const { return limit_; }
  State state() const { return state_; }
  // Whether packets of the present limit tell more about the path than small ones.
  bool is_raised() const { return limit_ > floor_; }
  // Large packets are in doubt until one arrives: slightly since a report is late; gravely since
  // reports are missing, or since a small packet has arrived behind kManyLost large ones that have
  // not.
  enum class Doubt : std::uint8_t { kNone, kSlight, kGrave };
  void on_silence(Doubt doubt) {
    if (is_raised()) doubt_ = std::max(doubt_, doubt);
  }
  Doubt doubt() const { return doubt_; }
  // In grave doubt: such a packet is large.
  bool is_doubtful(std::size_t size) const { return doubt_ == Doubt::kGrave && is_large(size); }
  // The most for packet `number`. In slight doubt one of eight is as small as the fallback. In
  // grave doubt one of eight is as large as the limit, one as small as the floor, and the others as
  // the fallback.
  std::uint16_t limit_for(std::uint64_t number) const;

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
  // Asks once after each of these; kBlackHole: the limit is the fallback from now on.
  Verdict take_verdict();
  // The loss of packet `number` counts as one of the path. A black hole says nothing of how much
  // the path loses: so take_too_large() tells how many that have counted were too large, since it
  // was last asked.
  void on_counted(std::uint64_t number, std::size_t size);
  std::uint64_t take_too_large();

 private:
  enum class Fate : std::uint8_t { kWaiting, kArrived, kLost };
  struct ProbeSize {
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
  // What the limit falls to in a black hole. Packets above it are large.
  std::uint16_t fallback() const { return limit_ > base_ ? base_ : floor_; }
  bool is_large(std::size_t size) const { return size > fallback() && size <= limit_; }

  Config config_;
  std::uint16_t floor_ = 0;
  std::uint16_t base_ = 0;
  std::uint16_t maximum_ = 0;
  State state_ = State::kComplete;
  std::uint16_t limit_ = 0;
  Instant raise_at_ = Instant::never();

  // The round: rungs from the largest size to the smallest.
  std::array<ProbeSize, kRungs> rungs_{};
  std::uint16_t round_from_ = 0;  // the limit when it began
  bool last_look_ = false;
  std::size_t count_ = 0;
  std::size_t sent_ = 0;
  std::size_t settled_ = 0;

  // Suspicion of a black hole: large packets lost since the last that arrived.
  Doubt doubt_ = Doubt::kNone;
  std::uint64_t newest_large_received_ = 0;
  std::uint64_t first_suspect_ = 0;
  int large_lost_ = 0;
  int lost_behind_small_ = 0;
  // Small packets that arrived behind the last large one that was counted; 0: none has yet.
  std::uint64_t last_counted_ = 0;
  std::uint64_t oldest_small_behind_ = 0, newest_small_behind_ = 0;
  bool black_hole_ = false;
  std::uint64_t suspects_ = 0;  // of the large ones that were lost, those that have counted
  std::uint64_t too_large_ = 0;
};

}  // namespace satrelay::stp
