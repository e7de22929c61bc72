// The largest datagram that the path carries, found while the path is used (DPLPMTUD, RFC 8899).
// The search starts at a base that nearly any path carries, and probes with larger packets. The
// limit falls back when large packets vanish while small ones arrive: to the base, and from the
// base to the floor. Sizes are UDP payload, numbers are packet numbers.
//
//   kSearching --no larger size passes, or none is left--> kComplete
//       ^                                                     |
//       +---- raise timer; black hole (at the fallback) ------+
//
// The search goes in rounds, one round trip each. The first round probes the maximum alone, since
// most paths carry it. If that probe is lost, each round probes a ladder of sizes at once. The next
// round probes only between the largest size that arrived and the smallest that did not. A single
// loss means little on a path that loses packets anyway. So the search ends only after nothing of a
// ladder up to the maximum has arrived.
//
// A black hole looks like an outage until small packets are seen to arrive. So once a report is
// late, one of eight packets is as small as the fallback, which costs next to nothing. When reports
// are missing (grave doubt), most packets are that small. They pass a black hole at once, and the
// few large packets between them show whether there is one.
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
    std::uint16_t floor = 548;  // any path carries this: MIN_PLPMTU, RFC 8899 section 5.1.2
    std::uint16_t maximum = 1472;
    bool known = false;  // true: starts at the maximum, and looks for black holes only
  };
  enum class State : std::uint8_t { kSearching, kComplete };
  enum class Verdict : std::uint8_t { kFine, kBlackHole };

  // PMTU_RAISE_TIMER, RFC 8899 section 5.1.1.
  static constexpr Duration kRaiseInterval = Duration::seconds(600);
  // Unit: bytes. A smaller gap between the limit and the smallest lost size is not searched.
  static constexpr std::uint16_t kResolution = 8;
  // Signs of a black hole: so many large packets were lost in a row, and so many of them behind a
  // small packet that arrived.
  static constexpr int kLargeLost = 6;
  static constexpr int kLostBehindSmall = 3;
  // More packets than a burst of losses or an overflowing queue drops.
  static constexpr int kManyLost = 64;

  explicit PathMtu(const Config& config);

  // A new session begins; its peer takes datagrams up to `peer_maximum`.
  void start(std::uint16_t peer_maximum);
  std::uint16_t limit() const { return limit_; }
  State state() const { return state_; }
  // Whether packets as large as the limit tell more about the path than small packets.
  bool is_raised() const { return limit_ > floor_; }
  // Large packets are in doubt until one arrives. The doubt is slight once a report is late. It is
  // grave once reports are missing, or once a small packet has arrived behind kManyLost lost large
  // ones.
  enum class Doubt : std::uint8_t { kNone, kSlight, kGrave };
  void on_silence(Doubt doubt) {
    if (is_raised()) doubt_ = std::max(doubt_, doubt);
  }
  Doubt doubt() const { return doubt_; }
  // Whether a packet of this size is large while large packets are in grave doubt.
  bool is_doubtful(std::size_t size) const { return doubt_ == Doubt::kGrave && is_large(size); }
  // The largest size for packet `number`. In slight doubt one of eight packets is as small as the
  // fallback. In grave doubt one of eight is as large as the limit, one as small as the floor, and
  // the others as small as the fallback.
  std::uint16_t limit_for(std::uint64_t number) const;

  // The size of the next probe; 0 if none is due.
  std::uint16_t probe_due() const { return sent_ < count_ ? rungs_[sent_].size : 0; }
  // The next probe is the last of the round, so its packet should ask for a report.
  bool is_last_of_round() const { return sent_ + 1 >= count_; }
  void on_probe_sent(std::uint64_t number);
  // When the next search begins, at the end of PMTU_RAISE_TIMER.
  Instant next_timeout() const { return raise_at_; }
  void handle_timeout(Instant now);

  // Packet `number` has arrived, or was lost. True if it was a probe. The loss of a probe is
  // neither a sign of congestion nor a loss of the link.
  bool on_acknowledged(std::uint64_t number, std::size_t size, Instant now);
  bool on_lost(std::uint64_t number, std::size_t size, Instant now);
  // The caller asks once after each of these. kBlackHole: the limit has fallen to the fallback.
  Verdict take_verdict();
  // The caller has counted the loss of packet `number` as a loss of the path. A black hole says
  // nothing about how much the path loses. So take_too_large() returns how many counted packets
  // were too large, since its last call.
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
  // The limit falls to this size in a black hole. Packets above it are large.
  std::uint16_t fallback() const { return limit_ > base_ ? base_ : floor_; }
  bool is_large(std::size_t size) const { return size > fallback() && size <= limit_; }

  Config config_;
  std::uint16_t floor_ = 0;
  std::uint16_t base_ = 0;
  std::uint16_t maximum_ = 0;
  State state_ = State::kComplete;
  std::uint16_t limit_ = 0;
  Instant raise_at_ = Instant::never();

  // The current round, from the largest size to the smallest.
  std::array<ProbeSize, kRungs> rungs_{};
  std::uint16_t round_from_ = 0;  // the limit when the round began
  bool last_look_ = false;
  std::size_t count_ = 0;
  std::size_t sent_ = 0;
  std::size_t settled_ = 0;

  // Suspicion of a black hole: large packets that were lost since the last large one that arrived.
  Doubt doubt_ = Doubt::kNone;
  std::uint64_t newest_large_received_ = 0;
  std::uint64_t first_suspect_ = 0;
  int large_lost_ = 0;
  int lost_behind_small_ = 0;
  // Small packets that arrived behind the last counted large packet; 0: none yet.
  std::uint64_t last_counted_ = 0;
  std::uint64_t oldest_small_behind_ = 0, newest_small_behind_ = 0;
  bool black_hole_ = false;
  std::uint64_t suspects_ = 0;  // lost large packets for which on_counted() was called
  std::uint64_t too_large_ = 0;
};

}  // namespace satrelay::stp
