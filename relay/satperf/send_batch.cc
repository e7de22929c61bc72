#include "relay/satperf/send_batch.h"

#include <algorithm>

namespace satrelay::satperf {

void SendBatch::add(std::size_t size, Grouping grouping, std::uint8_t traffic_class) {
  if (grouping == Grouping::kOn && !empty()) {
    Group& last = groups_.back();
    // Only the last datagram of a group may be shorter.
    const bool open = last.bytes == last.segment * last.count;
    if (open && traffic_class == last.traffic_class && size <= last.segment &&
        last.count < kMostSegments && last.bytes + size <= kMostBytes) {
      last.bytes += size;
      ++last.count;
      used_ += size;
      return;
    }
  }
  groups_.push_back({used_, size, size, 1, traffic_class});
  used_ += size;
}

void SendBatch::remove(std::size_t count) {
  first_ += count;
  if (first_ < groups_.size()) return;
  groups_.clear();
  first_ = 0;
  used_ = 0;
}

void SendBatch::split() {
  std::vector<Group> single;
  for (const Group& group : groups()) {
    for (std::size_t done = 0; done < group.bytes; done += group.segment) {
      const std::size_t size = std::min(group.segment, group.bytes - done);
      single.push_back({group.offset + done, size, size, 1, group.traffic_class});
    }
  }
  groups_ = std::move(single);
  first_ = 0;
}

}  // namespace satrelay::satperf
