// Frames in flight, shared by reference count so that a duplicated frame costs no copy. Links and
// actors pass the handles; whoever holds one gives it on or releases it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pep/base/bytes.h"
#include "relay/link/link_direction.h"

namespace satrelay::sim {

using link::FrameHandle;

class FramePool {
 public:
  static constexpr std::size_t kCapacity = 2048;  // bytes of a frame

  FrameHandle acquire() {
    if (free_.empty()) {
      slots_.push_back(std::make_unique<Slot>());
      free_.push_back(slots_.size() - 1);
    }
    const FrameHandle handle = free_.back();
    free_.pop_back();
    slots_[handle]->references = 1;
    slots_[handle]->size = 0;
    return handle;
  }
  FrameHandle copy_of(ConstBytes frame);
  void add_reference(FrameHandle handle) { ++slots_[handle]->references; }
  void release(FrameHandle handle) {
    if (--slots_[handle]->references == 0) free_.push_back(handle);
  }
  MutableBytes room(FrameHandle handle) { return slots_[handle]->storage; }
  void set_size(FrameHandle handle, std::size_t size) { slots_[handle]->size = size; }
  ConstBytes bytes(FrameHandle handle) const {
    return ConstBytes(slots_[handle]->storage).first(slots_[handle]->size);
  }
  std::size_t in_use() const { return slots_.size() - free_.size(); }

 private:
  struct Slot {
    std::byte storage[kCapacity];
    std::size_t size = 0;
    std::uint32_t references = 0;
  };
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<FrameHandle> free_;
};

// Takes over one reference to `frame`.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void receive(unsigned port, FrameHandle frame) = 0;
};

}  // namespace satrelay::sim
