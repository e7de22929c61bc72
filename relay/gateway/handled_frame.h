// A frame that the caller passes to the engine, and the engine's answer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::gateway {

struct Frame;  // frames/frame.h

// Tells the caller how to proceed with the frame that it passed to handle_frame().
enum class Verdict : std::uint8_t {
  kConsumed,  // free the frame: the engine no longer needs it
  kBridge,    // send this frame from its own memory on the other port
  kQueued,    // keep this frame in held_slot() until poll_frame() releases it
  kDrop,      // free the frame; a counter names the reason
};

// Whether the TCP or UDP checksum of a frame is known to be correct. If a device reports anything
// else, the caller passes kUnknown, and the engine checks the checksum itself.
enum class Checksum : std::uint8_t { kUnknown, kVerified };

struct Arrived {
  ConstBytes bytes;
  Checksum checksum = Checksum::kUnknown;
  // The result of look_at() if the caller has called look_at(), otherwise nullptr. The engine may
  // change the result.
  Frame* seen = nullptr;
};

// The result for one of several frames. If the verdict is kQueued, the caller must keep the frame
// in slot `slot`.
struct Handled {
  Verdict verdict = Verdict::kConsumed;
  std::size_t slot = 0;
};

}  // namespace satrelay::gateway
