#include "relay/gateway/frames/fragments/released_fragments.h"

#include <algorithm>
#include <utility>

#include "pep/base/check.h"

namespace satrelay::gateway {

void ReleasedFragments::send(Reassembly::Cell cell) {
  SATRELAY_CHECK(queued_ < queue_.size());
  queue_[(next_ + queued_++) % queue_.size()] = cell;
}

void ReleasedFragments::hold(std::size_t slot, Reassembly::Cell cell) {
  SATRELAY_CHECK(!holds(slot));
  by_slot_[slot] = cell;
  ++held_;
}

std::size_t ReleasedFragments::poll_frame(MutableBytes out) {
  if (queued_ == 0) return 0;
  const Reassembly::Cell cell = queue_[next_];
  next_ = (next_ + 1) % queue_.size();
  --queued_;
  return write(cell, out);
}

std::size_t ReleasedFragments::write_held(std::size_t slot, MutableBytes out) {
  SATRELAY_CHECK(holds(slot));
  --held_;
  return write(std::exchange(by_slot_[slot], kNoCell), out);
}

void ReleasedFragments::drop_held(std::size_t slot) {
  SATRELAY_CHECK(holds(slot));
  --held_;
  reassembly_.release(std::exchange(by_slot_[slot], kNoCell));
}

std::size_t ReleasedFragments::write(Reassembly::Cell cell, MutableBytes out) {
  const ConstBytes frame = reassembly_.frame(cell);
  SATRELAY_CHECK(frame.size() <= out.size());
  std::ranges::copy(frame, out.begin());
  reassembly_.release(cell);
  return frame.size();
}

}  // namespace satrelay::gateway
