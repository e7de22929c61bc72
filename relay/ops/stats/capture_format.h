// The format of a gateway's capture socket. Both ends are on one machine.
//
// The client sends a CaptureRequest and the instructions of its filter, which libpcap has compiled.
// The answer is a line, "ok" or "error: ...". Then CaptureRecords follow, each with the bytes of
// its frame, until the client shuts down its side. Then the gateway sends the frames that it has
// captured up to then, and a record of kEnd.
#pragma once

#include <cstddef>
#include <cstdint>

namespace satrelay::ops {

enum class CapturePlace : std::uint8_t {
  kLan = 0,
  kWan = 1,
  kPlain = 2,  // STP before encryption and after decryption
};

inline constexpr std::uint32_t kMostInstructions = 4096;  // the kernel's limit (BPF_MAXINSNS)
inline constexpr std::uint32_t kLongestCapture = 16'384;  // bytes of a frame

struct CaptureRequest {
  static constexpr std::uint32_t kMagic = 0x53524332;
  static constexpr std::size_t kMostOnBehalfOf = 40;
  std::uint32_t magic = kMagic;
  CapturePlace place = CapturePlace::kLan;
  std::uint8_t unused[3] = {};
  std::uint32_t longest = kLongestCapture;  // bytes of a frame that are kept
  std::uint32_t instructions = 0;           // 0: no filter
  // "panel:NAME", filled up with zeros, as with `as` on the control socket. Only zeros: the
  // client's own user asks.
  char on_behalf_of[kMostOnBehalfOf] = {};
};

enum class CaptureWay : std::uint8_t { kIn = 0, kOut = 1, kEnd = 2 };

struct CaptureRecord {
  std::uint64_t time = 0;      // UTC, nanoseconds
  std::uint32_t captured = 0;  // bytes that follow
  std::uint32_t original = 0;  // bytes that the frame had
  CaptureWay way = CaptureWay::kIn;
  std::uint8_t unused[7] = {};
  std::uint64_t lost = 0;  // kEnd: frames that matched, and were lost for lack of room
};

}  // namespace satrelay::ops
