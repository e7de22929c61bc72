// Credit of a lane: how many bytes the receiver grants to all streams together, as an absolute
// count. Bytes of a stream are charged up to the highest offset sent. Their credit is released when
// they are consumed, or discarded after a reset.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/arena.h"

namespace satrelay::stp {

struct LaneSendCredit {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;
  std::uint64_t available() const { return limit > used ? limit - used : 0; }
};

class LaneReceiveCredit {
 public:
  // At most `window` bytes may be stored or in flight. An increase of the grant by less than `unit`
  // bytes is not worth a frame. This object informs `arena` when bytes use up granted credit, and
  // when their credit is released. `arena` must outlive this object.
  LaneReceiveCredit(std::uint64_t window, std::uint64_t initial_grant, std::uint64_t unit,
                    Arena& arena)
      : window_(window),
        unit_(std::max<std::uint64_t>(1, unit)),
        granted_(initial_grant),
        announced_(initial_grant),
        arena_(arena) {}
  ~LaneReceiveCredit() { arena_.renew_promise(outstanding()); }
  LaneReceiveCredit(const LaneReceiveCredit&) = delete;
  LaneReceiveCredit& operator=(const LaneReceiveCredit&) = delete;
  std::uint64_t granted() const { return granted_; }
  bool allows(std::uint64_t added) const { return added <= granted_ - received_; }
  void on_received(std::uint64_t bytes) {
    received_ += bytes;
    arena_.use_promise(bytes);
  }
  void on_released(std::uint64_t bytes) {
    released_ += bytes;
    arena_.renew_promise(bytes);
  }
  std::uint64_t outstanding() const { return received_ - released_; }

  // Number of bytes that the peer may still send with the granted credit. Memory must be kept for
  // these bytes.
  std::uint64_t promised() const { return granted_ - received_; }

  // Raises the grant to the whole window, but not to more bytes than `free_memory` can store,
  // because the peer may use the whole grant at any time.
  void update(std::uint64_t free_memory) {
    const std::uint64_t wanted = released_ + window_;
    const std::uint64_t covered = received_ + free_memory;
    capped_ = covered < wanted;
    granted_ = std::max(granted_, std::min(wanted, covered));
  }
  // Whether the grant is less than the window, because memory is short. If so, call update() again
  // when memory may be free.
  bool capped() const { return capped_; }
  // Whether the new credit is worth a frame next to a report.
  bool due() const { return granted_ - announced_ >= unit_; }
  // Whether the new credit is worth a packet of its own: a quarter of the window is new, or the
  // peer will soon run out of credit.
  bool urgent() const {
    const std::uint64_t fresh = granted_ - announced_;
    return fresh >= window_ / 4 ||
           (fresh >= unit_ && announced_ - std::min(announced_, received_) < window_ / 4);
  }
  std::uint64_t announce() {
    announced_ = granted_;
    return announced_;
  }
  // To be called if the frame with the last grant was lost.
  void announce_again() { lost_ = true; }
  bool take_lost() {
    const bool was = lost_;
    lost_ = false;
    return was;
  }
  bool lost() const { return lost_; }

 private:
  std::uint64_t window_;
  std::uint64_t unit_;
  std::uint64_t granted_;
  std::uint64_t announced_;
  std::uint64_t received_ = 0;
  std::uint64_t released_ = 0;
  bool capped_ = false;
  bool lost_ = false;
  Arena& arena_;
};

}  // namespace satrelay::stp
