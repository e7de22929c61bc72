// What a receiver's own machine does to packets, and what their sender makes of it (RECEPTION
// frames, docs/stp.md section 7). A gateway that is not run finds packets at its port that came
// long before, and of others only that there was no room for them. Neither is a sign of the link.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/recent_count.h"
#include "pep/base/time.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

// What the host of a gateway knows of the port when it hands over what has come there.
struct Reception {
  Duration waited;           // since the port was last known to be empty
  std::uint64_t missed = 0;  // frames for which there was no room, since the start
};

// The receiver's side, which tells.
class OwnReception {
 public:
  // Shorter waits are those of any program.
  static constexpr Duration kWorthTelling = Duration::milliseconds(1);

  // A packet of the session came; `newest`: none has a higher number.
  void on_packet(const Reception& reception, bool newest) {
    if (!began_) {
      // What was missed before was missed of others.
      began_ = true;
      base_ = reception.missed;
    }
    if (newest) waited_ = reception.waited;
    const std::uint64_t missed = reception.missed - std::min(base_, reception.missed);
    if (missed <= missed_) return;
    missed_ = missed;
    told_ = 0;
  }
  // Whether a report has anything beside it: a count stands in `repeats` of them.
  bool has_news(int repeats) const {
    return waited_ >= kWorthTelling || (missed_ > 0 && told_ < repeats);
  }
  ReceptionFrame tell() {
    ++told_;
    const bool late = waited_ >= kWorthTelling;
    return {missed_, late ? static_cast<std::uint64_t>(waited_.to_microseconds()) : 0};
  }

 private:
  bool began_ = false;
  std::uint64_t base_ = 0;
  std::uint64_t missed_ = 0;
  int told_ = 0;  // in so many reports
  Duration waited_;
};

// The sender's side, which attributes losses. Counts and reports come in any order: what is told
// before its losses are found is kept for them, and what is found first is looked for once it is
// told; either for a moment only, since the port may have missed what others sent.
class PeerReception {
 public:
  static constexpr Duration kMemory = Duration::seconds(1);

  // So many of the losses that on_lost() has found were the port's.
  std::uint64_t on_told(std::uint64_t missed, Instant now) {
    if (missed <= missed_) return 0;
    const std::uint64_t added = missed - missed_;
    missed_ = missed;
    const std::uint64_t late = unexplained_.take(added, kMemory, now);
    if (now >= expires_) credit_ = 0;
    credit_ = std::min(credit_ + (added - late), kMostCredit);
    expires_ = now + kMemory;
    return late;
  }
  // A packet is found lost; whether at the port.
  bool on_lost(Instant now) {
    if (credit_ > 0 && now < expires_) {
      --credit_;
      return true;
    }
    unexplained_.add(1, kMemory, now);
    return false;
  }
  std::uint64_t missed() const { return missed_; }

 private:
  // More than is ever in flight.
  static constexpr std::uint64_t kMostCredit = std::uint64_t{1} << 22;
  std::uint64_t missed_ = 0;
  std::uint64_t credit_ = 0;  // told, and not yet found lost
  Instant expires_;
  RecentCount unexplained_;
};

}  // namespace satrelay::stp
