// A frame that the caller passes to the engine, and the engine's answer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::gateway {

struct Frame;  // frames/frame.h

// The caller's next step with the frame that it passed to handle_frame().
enum class Verdict : std::uint8_t {
  kConsumed,  // the engine has taken what it needs: free the frame
  kBridge,    // send this very frame out of the other port
  kQueued,    // keep this very frame in held_slot() until poll_frame() releases it
  kDrop,      // free the frame; a counter names the reason
};

// The caller's knowledge of a frame's TCP or UDP checksum. If a device reports anything but a
// correct checksum, the caller passes kUnknown and the engine checks for itself.
enum class Checksum : std::uint8_t { kUnknown, kVerified };

struct Arrived {
  ConstBytes bytes;
  Checksum checksum = Checksum::kUnknown;
  // The result of look_at(), if the caller has called it. The engine may change it.
  Frame* seen = nullptr;
};

// The result for one frame of many. `slot` is where the caller keeps it, if kQueued.
struct Handled {
  Verdict verdict = Verdict::kConsumed;
  std::size_t slot = 0;
};

}  // namespace satrelay::gateway
