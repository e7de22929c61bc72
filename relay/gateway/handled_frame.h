// A frame that the caller passes to the engine, and the engine's answer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::gateway {

struct Frame;  // frames/frame.h

// The next step of the caller with the frame that it passed to handle_frame().
enum class Verdict : std::uint8_t {
  kConsumed,  // the engine needs the frame no longer: free the frame
  kBridge,    // send this frame itself on the other port
  kQueued,    // keep this frame itself in held_slot() until poll_frame() releases it
  kDrop,      // free the frame; a counter names the reason
};

// The caller's knowledge of a frame's TCP or UDP checksum. If a device reports anything but a
// correct checksum, the caller passes kUnknown and the engine checks the sum itself.
enum class Checksum : std::uint8_t { kUnknown, kVerified };

struct Arrived {
  ConstBytes bytes;
  Checksum checksum = Checksum::kUnknown;
  // The result of look_at(), if the caller has called it. The engine may change the result.
  Frame* seen = nullptr;
};

// The result for one of several frames. `slot`: if kQueued, the slot in which the caller must keep
// the frame.
struct Handled {
  Verdict verdict = Verdict::kConsumed;
  std::size_t slot = 0;
};

}  // namespace satrelay::gateway
