// Turns at something dear, so many a second, which the sessions of a worker share: peer by peer,
// and lane by lane within a peer. Who asks more often than others only waits for its own next turn.
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
    Duration interval;  // a turn in the long run
    int at_once = 1;    // after a rest
    Duration gap;       // between two of them even then
  };
  // A session.
  struct Who {
    std::uint32_t peer = 0;
    std::uint8_t lane = 0;
  };

  Turns(std::size_t peers, const Pace& pace);

  // Whether `who` may act now. If not it stands in line from now on, once.
  bool take(const Who& who, Instant now);
  bool waits(const Who& who) const { return has(peers_[who.peer].waiting, who.lane); }
  // When to ask again, of one that stands in line or whose turn has come: not later than its turn.
  Instant due(const Who& who) const;
  // It does not want its turn any more.
  void leave(const Who& who);

 private:
  using Lanes = std::uint16_t;
  struct Peer {
    Lanes waiting = 0;
    Lanes served = 0;             // their turn has come, and they have not taken it yet
    std::uint8_t last_lane = 0;   // that was served
    std::uint64_t place = 0;      // in the line, while it stands there
    bool stands_in_line = false;  // at least one lane waits, or has left
  };
  static bool has(Lanes lanes, std::uint8_t lane) { return (lanes >> lane & 1U) != 0; }
  static Lanes bit(std::uint8_t lane) { return static_cast<Lanes>(1U << lane); }
  // When so many others have had theirs.
  Instant turn_after(std::uint64_t others) const;
  void spend(Instant at);
  void serve(Instant now);
  void serve(Peer& peer);
  void line_up(std::uint32_t peer);

  Pace pace_;
  std::vector<Peer> peers_;
  std::vector<std::uint32_t> line_;    // a ring: peers, each once at most
  std::uint64_t first_ = 0, end_ = 0;  // places in it, counted on and on
  Instant earned_;                     // the next turn, by the interval
  Instant after_gap_;                  // and by the gap
};

}  // namespace satrelay::stp
