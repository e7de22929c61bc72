// Datagrams to pass to the kernel. Consecutive datagrams with the same size and traffic class form
// a group, which the kernel can take as a whole (UDP_SEGMENT).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pep/base/bytes.h"

namespace satrelay::satperf {

class SendBatch {
 public:
  // A group of consecutive datagrams. Each has `segment` bytes, except that the last may be
  // shorter.
  struct Group {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    std::size_t segment = 0;
    std::size_t count = 0;
    std::uint8_t traffic_class = 0;  // traffic class for the IP header
  };
  enum class Grouping : std::uint8_t { kOn, kOff };

  // Linux takes at most 64 segments (UDP_MAX_SEGMENTS) and 65,535 bytes with headers at once.
  static constexpr std::size_t kMostSegments = 64;
  static constexpr std::size_t kMostBytes = 65'000;

  explicit SendBatch(std::size_t capacity) : bytes_(capacity) {}

  // Returns memory for one more datagram of up to `size` bytes. Empty if the batch is full.
  MutableBytes room(std::size_t size) {
    if (bytes_.size() - used_ < size) return {};
    return MutableBytes(bytes_).subspan(used_, size);
  }
  // Adds a datagram, which was written into the first `size` bytes of room().
  void add(std::size_t size, Grouping grouping, std::uint8_t traffic_class = 0);

  bool empty() const { return first_ == groups_.size(); }
  std::span<const Group> groups() const { return std::span(groups_).subspan(first_); }
  ConstBytes bytes(const Group& group) const {
    return ConstBytes(bytes_).subspan(group.offset, group.bytes);
  }
  // Removes the first `count` groups. If no group is left, the memory of the batch is reused from
  // its beginning.
  void remove(std::size_t count);
  // Puts each datagram into a separate group.
  void split();

 private:
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
  std::vector<Group> groups_;
  std::size_t first_ = 0;
};

}  // namespace satrelay::satperf
