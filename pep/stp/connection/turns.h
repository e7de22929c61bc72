// Turns at expensive work, so many a second. The sessions of a worker share them: peer by peer, and
// lane by lane within a peer. A session that asks more often only waits for its own next turn.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/time.h"

namespace satrelay::stp {

class Turns {
 public:
  static constexpr std::size_t kLanes = 16;
  struct Pace {
    Duration interval;  // of a turn, in the long run
    int at_once = 1;    // turns that may follow each other after a rest
    Duration gap;       // between two of those
  };
  // Identifies a session.
  struct Who {
    std::uint32_t peer = 0;
    std::uint8_t lane = 0;
  };

  Turns(std::size_t peers, const Pace& pace);

  // Whether `who` may act now. If not, it stands in line from now on, once.
  bool take(const Who& who, Instant now);
  bool waits(const Who& who) const { return has(peers_[who.peer].waiting, who.lane); }
  // When a session that waits should ask again: at its earliest turn, if no peer before it leaves.
  // If its turn has come, at once.
  Instant due(const Who& who) const;
  // The session no longer wants its turn.
  void leave(const Who& who);

 private:
  using Lanes = std::uint16_t;
  struct Peer {
    Lanes waiting = 0;
    Lanes served = 0;             // lanes that have their turn, and have not taken it yet
    std::uint8_t last_lane = 0;   // the lane that was served last
    std::uint64_t place = 0;      // its place in the line, while it stands there
    bool stands_in_line = false;  // at least one lane waits, or has left
  };
  static bool has(Lanes lanes, std::uint8_t lane) { return (lanes >> lane & 1U) != 0; }
  static Lanes bit(std::uint8_t lane) { return static_cast<Lanes>(1U << lane); }
  // When a turn is earned after so many other turns.
  Instant turn_after(std::uint64_t others) const;
  void spend(Instant at);
  void serve(Instant now);
  void serve(Peer& peer);
  void line_up(std::uint32_t peer);

  Pace pace_;
  std::vector<Peer> peers_;
  std::vector<std::uint32_t> line_;    // a ring of peers, each at most once
  std::uint64_t first_ = 0, end_ = 0;  // places in the ring, not reduced modulo its size
  Instant earned_;                     // when the next turn is earned by the interval
  Instant after_gap_;                  // when the gap after the last turn is over
};

}  // namespace satrelay::stp
