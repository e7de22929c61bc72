#include "relay/sim/network/frame_pool.h"

#include <cstring>

namespace satrelay::sim {
namespace {

constexpr std::size_t kCacheLine = 64;

}  // namespace

FramePool::FramePool(std::size_t frame_size)
    : frame_size_(frame_size), stride_((frame_size + kCacheLine - 1) / kCacheLine * kCacheLine) {}

void FramePool::grow() {
  constexpr std::size_t kFrames = std::size_t{1} << kChunkShift;
  const std::size_t size = stride_ * kFrames;
  chunks_.emplace_back(size, BigMemory::pages_for(size * chunks_.size()));
  const std::size_t first = slots_.size();
  slots_.resize(first + kFrames);
  free_.reserve(slots_.size());
  // Add the slots in descending order: the stack then gives out the front of the memory first.
  for (std::size_t i = kFrames; i > 0; --i) free_.push_back(first + i - 1);
}

FrameHandle FramePool::copy_of(ConstBytes frame) {
  const FrameHandle handle = acquire();
  std::memcpy(at(handle), frame.data(), frame.size());
  set_size(handle, frame.size());
  return handle;
}

}  // namespace satrelay::sim
