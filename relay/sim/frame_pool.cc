#include "relay/sim/frame_pool.h"

#include <cstring>

namespace satrelay::sim {

FrameHandle FramePool::copy_of(ConstBytes frame) {
  const FrameHandle handle = acquire();
  std::memcpy(slots_[handle]->storage, frame.data(), frame.size());
  set_size(handle, frame.size());
  return handle;
}

}  // namespace satrelay::sim
