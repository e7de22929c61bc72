// Finds the largest datagram that the path carries, while the path is used (DPLPMTUD, RFC 8899).
// The search starts at a base that nearly any path carries, and probes with larger packets. If
// large packets are lost while small packets arrive (a black hole), the limit falls back to a
// smaller size: to the base, or from the base to the floor. Sizes are UDP payload in bytes, and
// numbers are packet numbers.
//
//   kSearching --no larger size passes, or none is left--> kComplete
//       ^                                                     |
//       +---- raise timer; black hole (at the fallback) ------+
//
// The search has rounds of one round trip each. The first round probes only the maximum, since most
// paths carry it. If that probe is lost, each round probes a ladder of several sizes at once. The
// next round probes sizes between the largest size that arrived and the smallest that did not. On a
// path that loses packets anyway, a single loss proves little. So the search ends only after no
// probe of a ladder up to the maximum has arrived.
//
// A black hole looks like an outage until small packets arrive. So when a report is late (slight
// doubt), one of eight packets is small, which costs almost nothing. If reports are missing (grave
// doubt), most packets are small, so that they pass a black hole. The few large packets between
// them show whether there is a black hole.
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
    // UDP payload of an IP packet of 576 bytes, which every IPv4 host accepts (RFC 791).
    std::uint16_t floor = 548;
    std::uint16_t maximum = 1472;
    bool known = false;  // start at the maximum, and only detect black holes
  };
  enum class State : std::uint8_t { kSearching, kComplete };
  enum class Verdict : std::uint8_t { kFine, kBlackHole };

  // PMTU_RAISE_TIMER, RFC 8899 section 5.1.1.
  static constexpr Duration kRaiseInterval = Duration::seconds(600);
  // The search ends if the limit and the smallest lost size differ by less than this number of
  // bytes.
  static constexpr std::uint16_t kResolution = 8;
  // Signs of a black hole: kLargeLost large packets were lost in a row, and kLostBehindSmall of
  // these were sent after a small packet that arrived.
  static constexpr int kLargeLost = 6;
  static constexpr int kLostBehindSmall = 3;
  // If so many large packets are lost in a row, a burst of losses or an overflow of a queue is an
  // unlikely cause.
  static constexpr int kManyLost = 64;

  explicit PathMtu(const Config& config);

  // Starts a new session with a peer that accepts datagrams of up to `peer_maximum` bytes.
  void start(std::uint16_t peer_maximum);
  std::uint16_t limit() const { return limit_; }
  State state() const { return state_; }
  // Whether the limit is above the floor. If so, packets as large as the limit show more about the
  // path than small packets.
  bool is_raised() const { return limit_ > floor_; }
  // How likely it is that the path drops large packets. The doubt is slight if a report is late. It
  // is grave if reports are missing, or if kManyLost large packets were lost and a small packet has
  // arrived. The doubt ends when a large packet arrives.
  enum class Doubt : std::uint8_t { kNone, kSlight, kGrave };
  void on_silence(Doubt doubt) {
    if (is_raised()) doubt_ = std::max(doubt_, doubt);
  }
  Doubt doubt() const { return doubt_; }
  // Whether a packet of this size is large, and the doubt is grave.
  bool is_doubtful(std::size_t size) const { return doubt_ == Doubt::kGrave && is_large(size); }
  // The largest size for packet `number`. If the doubt is slight, one of eight packets is as small
  // as the fallback. If it is grave, one of eight packets has the size of the limit, one the size
  // of the floor, and six the size of the fallback.
  std::uint16_t limit_for(std::uint64_t number) const;

  // The size of the next probe; 0 if none is due.
  std::uint16_t probe_due() const { return sent_ < count_ ? rungs_[sent_].size : 0; }
  // Whether the next probe is the last of the round. If so, its packet should ask for a report.
  bool is_last_of_round() const { return sent_ + 1 >= count_; }
  void on_probe_sent(std::uint64_t number);
  // When PMTU_RAISE_TIMER expires, and the next search begins.
  Instant next_timeout() const { return raise_at_; }
  void handle_timeout(Instant now);

  // Packet `number` has arrived, or was lost. Returns true if it was a probe. The loss of a probe
  // is neither a sign of congestion nor a loss of the link.
  bool on_acknowledged(std::uint64_t number, std::size_t size, Instant now);
  bool on_lost(std::uint64_t number, std::size_t size, Instant now);
  // To be called once after each on_acknowledged() and on_lost(). kBlackHole means that the limit
  // has fallen to the fallback.
  Verdict take_verdict();
  // Call on_counted() when the loss of packet `number` was counted as a loss of the path.
  // take_too_large() returns how many of the counted packets turned out to be too large since its
  // last call. They must be subtracted, as a black hole says nothing about how many packets the
  // path loses.
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
  // The size to which the limit falls in a black hole. Packets above that size are large.
  std::uint16_t fallback() const { return limit_ > base_ ? base_ : floor_; }
  bool is_large(std::size_t size) const { return size > fallback() && size <= limit_; }

  Config config_;
  std::uint16_t floor_ = 0;
  std::uint16_t base_ = 0;
  std::uint16_t maximum_ = 0;
  State state_ = State::kComplete;
  std::uint16_t limit_ = 0;
  Instant raise_at_ = Instant::never();

  // The probes of the current round, from the largest size to the smallest.
  std::array<ProbeSize, kRungs> rungs_{};
  std::uint16_t round_from_ = 0;  // the limit when the round began
  bool last_look_ = false;
  std::size_t count_ = 0;
  std::size_t sent_ = 0;
  std::size_t settled_ = 0;

  // State for the detection of a black hole. It counts the large packets that were lost since a
  // large packet last arrived.
  Doubt doubt_ = Doubt::kNone;
  std::uint64_t newest_large_received_ = 0;
  std::uint64_t first_suspect_ = 0;
  int large_lost_ = 0;
  int lost_behind_small_ = 0;
  // The last large packet that was counted in lost_behind_small_, or the first that was lost.
  std::uint64_t last_counted_ = 0;
  // Small packets that were sent after packet last_counted_, and have arrived; 0 if there are none.
  std::uint64_t oldest_small_behind_ = 0, newest_small_behind_ = 0;
  bool black_hole_ = false;
  std::uint64_t suspects_ = 0;  // lost large packets that were passed to on_counted()
  std::uint64_t too_large_ = 0;
};

}  // namespace satrelay::stp
