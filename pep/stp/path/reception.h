// How a receiver's own machine affects packets, and how their sender allows for it (RECEPTION
// frames, docs/stp.md section 7). A gateway that was not run for a while finds packets at its port
// that came long before. It knows of other packets only that the port had no room. Neither is a
// sign of the link.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/recent_count.h"
#include "pep/base/time.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

// The host of a gateway knows this about the port when it hands over packets.
struct Reception {
  Duration waited;           // time since the port was last known to be empty
  std::uint64_t missed = 0;  // frames for which the port had no room, since the start
};

// The receiver's side. It tells the sender.
class OwnReception {
 public:
  // Every program causes waits shorter than this.
  static constexpr Duration kWorthTelling = Duration::milliseconds(1);

  // A packet of the session has arrived; `newest`: no packet has a higher number.
  void on_packet(const Reception& reception, bool newest) {
    if (!began_) {
      // Frames that were missed before belonged to other sessions.
      began_ = true;
      base_ = reception.missed;
    }
    if (newest) waited_ = reception.waited;
    const std::uint64_t missed = reception.missed - std::min(base_, reception.missed);
    if (missed <= missed_) return;
    missed_ = missed;
    told_ = 0;
  }
  // Whether a report needs a RECEPTION beside it. A new count stands in `repeats` reports.
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
  int told_ = 0;  // number of reports that have contained it
  Duration waited_;
};

// The sender's side. It attributes losses to the peer's port. Counts and losses may come in any
// order. A count that comes first is kept for later losses. Losses that come first are kept for a
// later count. Both are kept for a moment only, since the port may have missed packets of other
// senders.
class PeerReception {
 public:
  static constexpr Duration kMemory = Duration::seconds(1);

  // Returns how many of the losses found so far by on_lost() were losses at the port.
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
  // A packet was found lost. Returns whether it was lost at the port.
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
  // More packets than are ever in flight.
  static constexpr std::uint64_t kMostCredit = std::uint64_t{1} << 22;
  std::uint64_t missed_ = 0;
  std::uint64_t credit_ = 0;  // missed frames that no loss was found for yet
  Instant expires_;
  RecentCount unexplained_;
};

}  // namespace satrelay::stp
