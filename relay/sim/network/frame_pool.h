// Stores the frames in flight. It counts references, so that a duplicated frame needs no copy.
// Links and actors pass handles to each other. The owner of a handle must either pass it on or
// release it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/bytes.h"
#include "relay/link/link_direction.h"
#include "relay/sim/network/big_memory.h"

namespace satrelay::sim {

using link::FrameHandle;

class FramePool {
 public:
  // `frame_size` is the size of the largest frame in bytes, including its Ethernet header.
  explicit FramePool(std::size_t frame_size);

  FrameHandle acquire() {
    if (free_.empty()) grow();
    const FrameHandle handle = free_.back();
    free_.pop_back();
    slots_[handle] = {.size = 0, .references = 1};
    return handle;
  }
  FrameHandle copy_of(ConstBytes frame);
  void add_reference(FrameHandle handle) { ++slots_[handle].references; }
  void release(FrameHandle handle) {
    if (--slots_[handle].references == 0) free_.push_back(handle);
  }
  MutableBytes room(FrameHandle handle) { return {at(handle), frame_size_}; }
  void set_size(FrameHandle handle, std::size_t size) {
    slots_[handle].size = static_cast<std::uint32_t>(size);
  }
  ConstBytes bytes(FrameHandle handle) const { return {at(handle), slots_[handle].size}; }
  std::size_t frame_size() const { return frame_size_; }
  std::size_t in_use() const { return slots_.size() - free_.size(); }

 private:
  struct Slot {
    std::uint32_t size = 0;
    std::uint32_t references = 0;
  };
  static constexpr unsigned kChunkShift = 10;  // log2 of the frames in a chunk

  void grow();
  std::byte* at(FrameHandle handle) const {
    constexpr FrameHandle kMask = (FrameHandle{1} << kChunkShift) - 1;
    return chunks_[handle >> kChunkShift].data() + (handle & kMask) * stride_;
  }
  std::size_t frame_size_;
  std::size_t stride_;
  std::vector<BigMemory> chunks_;
  std::vector<Slot> slots_;
  // A stack: the frame released last is reused first, since it is still in the cache.
  std::vector<FrameHandle> free_;
};

// An object that takes ownership of one reference to each frame that it receives.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void receive(unsigned port, FrameHandle frame) = 0;
};

}  // namespace satrelay::sim
