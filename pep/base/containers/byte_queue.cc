#include "pep/base/containers/byte_queue.h"

#include <algorithm>
#include <cstring>

#include "pep/base/check.h"

namespace satrelay {

std::size_t ByteQueue::append(ConstBytes bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const MutableBytes room = blocks_.room_at(end_, bytes.size() - done);
    if (room.empty()) break;
    const std::size_t n = std::min(bytes.size() - done, room.size());
    std::memcpy(room.data(), bytes.data() + done, n);
    done += n;
    end_ += n;
  }
  return done;
}

void ByteQueue::copy_out(std::uint64_t offset, MutableBytes out) const {
  SATRELAY_CHECK(offset >= begin() && offset <= end_ && out.size() <= end_ - offset);
  while (!out.empty()) {
    const ConstBytes run = blocks_.at(offset);
    const std::size_t n = std::min(out.size(), run.size());
    std::memcpy(out.data(), run.data(), n);
    out = out.subspan(n);
    offset += n;
  }
}

ConstBytes ByteQueue::contiguous(std::uint64_t offset) const {
  SATRELAY_CHECK(offset >= begin() && offset <= end_);
  if (offset == end_) return {};
  const ConstBytes run = blocks_.at(offset);
  return run.first(std::min<std::uint64_t>(run.size(), end_ - offset));
}

void ByteQueue::release_below(std::uint64_t offset) {
  SATRELAY_CHECK(offset <= end_);
  if (offset <= begin()) return;
  if (offset == end_) {
    blocks_.clear(end_);  // an empty queue holds no memory, not even its last partial block
  } else {
    blocks_.release_below(offset);
  }
}

void ByteQueue::forget(Range range) {
  SATRELAY_CHECK(range.begin >= begin() && range.end <= end_);
  blocks_.release_within(range.begin, range.end);
}

void ByteQueue::reset() {
  blocks_.clear(0);
  end_ = 0;
}

}  // namespace satrelay
