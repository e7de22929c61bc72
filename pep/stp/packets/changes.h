// An epoch that rises with each call that may change the session. As long as the epoch stays the
// same, several packets may be sent at one instant without a check for control frames before each.
//
// A poll leads to calls of the same session: the poll asks the source for bytes, and the source
// calls the session. During a poll, the source may only write bytes of streams, or make control
// frames of a stream due. Debug builds check that.
#pragma once

#include <cstdint>

#include "pep/base/check.h"
#include "pep/base/time.h"

namespace satrelay::stp {

class Changes {
 public:
  enum class Kind : std::uint8_t {
    kBytes,    // bytes of streams may be due; the writer checks this before each packet
    kControl,  // a control frame of a stream may be due
    kAny,      // anything may be due; not allowed during a poll
  };
  // To be called first in each call of the session that may change its state.
  void note(Kind kind) {
    SATRELAY_DCHECK(!polls_ || kind != Kind::kAny);
    if (!polls_ || kind != Kind::kBytes) ++epoch_;
  }
  std::uint64_t epoch() const { return epoch_; }

  // A poll of the session. It lasts as long as this object exists.
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

  // A packet with only data was sent at `now`, and nothing else could be sent. `epoch` is the epoch
  // before that packet.
  void note_only_data(Instant now, std::uint64_t epoch) {
    only_data_at_ = now;
    only_data_epoch_ = epoch;
  }
  // Whether the state is the same as at the last call of note_only_data(): `now` and the epoch are
  // equal.
  bool only_data(Instant now) const { return only_data_at_ == now && only_data_epoch_ == epoch_; }
  void forget_only_data() { only_data_at_ = Instant::never(); }

 private:
  std::uint64_t epoch_ = 0;
  bool polls_ = false;
  Instant only_data_at_ = Instant::never();
  std::uint64_t only_data_epoch_ = 0;
};

}  // namespace satrelay::stp
