// How a receiver's own machine affects packets, and how the sender takes this into account
// (RECEPTION frames, docs/stp.md section 7). If a gateway was not scheduled for a while, it finds
// packets at its port that arrived long before, and the full port has dropped others. Neither the
// delay nor these losses say anything about the link.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/recent_count.h"
#include "pep/base/time.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

// The state of the port when the program passes received packets to the engine.
struct Reception {
  Duration waited;           // time since the port was last known to be empty
  std::uint64_t missed = 0;  // frames that the full port dropped since the start
};

// The receiving side, which informs the sender.
class OwnReception {
 public:
  // Shorter waits are not reported, as any program causes them.
  static constexpr Duration kWorthTelling = Duration::milliseconds(1);

  // A packet of the session has arrived. `newest` says whether no packet with a higher number has
  // arrived.
  void on_packet(const Reception& reception, bool newest) {
    if (!began_) {
      // Frames that the port dropped earlier belonged to other sessions.
      began_ = true;
      base_ = reception.missed;
    }
    if (newest) waited_ = reception.waited;
    const std::uint64_t missed = reception.missed - std::min(base_, reception.missed);
    if (missed <= missed_) return;
    missed_ = missed;
    told_ = 0;
  }
  // Whether a report needs a RECEPTION next to it. A new count is sent with `repeats` reports.
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
  int told_ = 0;  // number of reports that have contained the count
  Duration waited_;
};

// The sending side, which attributes losses to the peer's port. The counts of the peer may arrive
// before or after the losses are detected. So a count is kept for later losses, and losses are kept
// for a later count. Both are kept for a moment only, since the port may have dropped packets of
// other senders.
class PeerReception {
 public:
  static constexpr Duration kMemory = Duration::seconds(1);

  // The peer has reported a count of dropped frames. Returns how many losses of earlier on_lost()
  // calls were losses at the port.
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
  // A packet was lost. Returns whether the loss is attributed to the port.
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
  // More packets than can be in flight.
  static constexpr std::uint64_t kMostCredit = std::uint64_t{1} << 22;
  std::uint64_t missed_ = 0;
  std::uint64_t credit_ = 0;  // dropped frames to which no loss was attributed yet
  Instant expires_;
  RecentCount unexplained_;
};

}  // namespace satrelay::stp
