// Counts what a session is told, by an epoch that each call raises. While the epoch stays the same,
// packets at one instant need not ask again what a packet of nothing but data cannot change.
//
// Polls climb back: a poll asks the source for bytes, and the source calls the same session. It may
// only answer with bytes of streams, or cause control of a stream. Debug builds check that.
#pragma once

#include <cstdint>

#include "pep/base/check.h"
#include "pep/base/time.h"

namespace satrelay::stp {

class Changes {
 public:
  enum class Kind : std::uint8_t {
    kBytes,    // of streams. The writer looks at those before each packet.
    kControl,  // of a stream may be due
    kAny,      // anything may be due. Not from within a poll.
  };
  // Each call of the session that may change something begins here.
  void note(Kind kind) {
    SATRELAY_DCHECK(!polls_ || kind != Kind::kAny);
    if (!polls_ || kind != Kind::kBytes) ++epoch_;
  }
  std::uint64_t epoch() const { return epoch_; }

  // As long as this object exists, the session is polled.
  class Poll {
   public:
    explicit Poll(Changes& changes) : changes_(changes) {
      SATRELAY_DCHECK(!changes.polls_);
      changes.polls_ = true;
    }
    ~Poll() { changes_.polls_ = false; }
    Poll(const Poll&) = delete;
    Poll& operator=(const Poll&) = delete;

   private:
    Changes& changes_;
  };

  // A packet of nothing but data has left at `now`, and everything else waits for time or for
  // input. `epoch`: as it was before that packet.
  void note_only_data(Instant now, std::uint64_t epoch) {
    only_data_at_ = now;
    only_data_epoch_ = epoch;
  }
  // Whether that is still so.
  bool only_data(Instant now) const { return only_data_at_ == now && only_data_epoch_ == epoch_; }
  void forget_only_data() { only_data_at_ = Instant::never(); }

 private:
  std::uint64_t epoch_ = 0;
  bool polls_ = false;
  Instant only_data_at_ = Instant::never();
  std::uint64_t only_data_epoch_ = 0;
};

}  // namespace satrelay::stp
