// The format of a gateway's capture socket. Both ends are on one machine.
//
// The client sends a CaptureRequest and the instructions of its filter, which libpcap has compiled.
// The gateway answers with a line, "ok" or "error: ...", and then sends CaptureRecords, each
// followed by the bytes of its frame. To end the capture, the client shuts down its side of the
// connection. The gateway then sends the frames that it has captured so far, and a record of kEnd.
#pragma once

#include <cstddef>
#include <cstdint>

namespace satrelay::ops {

enum class CapturePlace : std::uint8_t {
  kLan = 0,
  kWan = 1,
  kPlain = 2,  // STP packets before encryption and after decryption
};

inline constexpr std::uint32_t kMostInstructions = 4096;  // the kernel's limit (BPF_MAXINSNS)
// Maximum number of bytes to capture from each frame.
inline constexpr std::uint32_t kLongestCapture = 16'384;

struct CaptureRequest {
  static constexpr std::uint32_t kMagic = 0x53524332;
  static constexpr std::size_t kMostOnBehalfOf = 40;
  std::uint32_t magic = kMagic;
  CapturePlace place = CapturePlace::kLan;
  std::uint8_t unused[3] = {};
  std::uint32_t longest = kLongestCapture;  // the client gets at most this many bytes of each frame
  std::uint32_t instructions = 0;  // number of the filter's instructions; 0 means no filter
  // "panel:NAME", padded with zeros, if the panel captures on behalf of its user NAME. Otherwise
  // all bytes are zero.
  char on_behalf_of[kMostOnBehalfOf] = {};
};

enum class CaptureWay : std::uint8_t { kIn = 0, kOut = 1, kEnd = 2 };

struct CaptureRecord {
  std::uint64_t time = 0;      // nanoseconds since 1970, UTC
  std::uint32_t captured = 0;  // number of the frame's bytes that follow this record
  std::uint32_t original = 0;  // length of the frame in bytes
  CaptureWay way = CaptureWay::kIn;
  std::uint8_t unused[7] = {};
  // Only for kEnd: number of frames that matched the filter but were lost for lack of room.
  std::uint64_t lost = 0;
};

}  // namespace satrelay::ops
