// Turns are permissions to do expensive work once. Their number per second is limited. The sessions
// of a worker share them round robin: by peer, and within a peer by lane. If a session asks more
// often, it gets no more turns than the others.
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
    Duration interval;  // average time between two turns
    int at_once = 1;    // turns that may follow each other after an idle time
    Duration gap;       // time between two of these turns
  };
  // Identifies a session.
  struct Who {
    std::uint32_t peer = 0;
    std::uint8_t lane = 0;
  };

  Turns(std::size_t peers, const Pace& pace);

  // Returns whether `who` has a turn now, and uses it up. If not, `who` is put in line, unless it
  // is in line already.
  bool take(const Who& who, Instant now);
  bool waits(const Who& who) const { return has(peers_[who.peer].waiting, who.lane); }
  // When a waiting session should call take() again: at once if its turn has come. Otherwise, this
  // is an estimate, and the turn may come earlier if other peers leave the line.
  Instant due(const Who& who) const;
  // The session no longer needs its turn.
  void leave(const Who& who);

 private:
  using Lanes = std::uint16_t;
  struct Peer {
    Lanes waiting = 0;
    Lanes served = 0;             // lanes that have a turn, and have not used it yet
    std::uint8_t last_lane = 0;   // the lane that was served last
    std::uint64_t place = 0;      // position in the line; only valid if stands_in_line
    bool stands_in_line = false;  // the peer is in the line, perhaps without a waiting lane
  };
  static bool has(Lanes lanes, std::uint8_t lane) { return (lanes >> lane & 1U) != 0; }
  static Lanes bit(std::uint8_t lane) { return static_cast<Lanes>(1U << lane); }
  // When a turn is available if `others` other turns are used before it.
  Instant turn_after(std::uint64_t others) const;
  void spend(Instant at);
  void serve(Instant now);
  void serve(Peer& peer);
  void line_up(std::uint32_t peer);

  Pace pace_;
  std::vector<Peer> peers_;
  std::vector<std::uint32_t> line_;    // a ring of peers; each peer is in it at most once
  std::uint64_t first_ = 0, end_ = 0;  // positions in the ring, not reduced modulo its size
  Instant earned_;                     // when the interval allows the next turn
  Instant after_gap_;                  // end of the gap after the last turn
};

}  // namespace satrelay::stp
