// The frames CODED and REPAIR: forward error correction by random linear codes over packets
// (docs/stp-wire.md section 11). A code numbers the packets that it covers. A repair covers several
// packets with consecutive numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::stp {

// The codes. Each code has its own numbers for packets.
enum class FecCode : std::uint8_t {
  kFlight = 0,  // for the first and last packets of streams, in consecutive windows
  kPrompt = 1,  // for flows with `delivery: prompt`, in a sliding window
};
inline constexpr std::size_t kFecCodes = 2;

// CODED, the first frame of each packet that a code covers.
struct CodedFrame {
  FecCode code = FecCode::kFlight;
  std::uint16_t index = 0;  // low 16 bits of the packet's number in the code
};

// REPAIR: the sum of the symbols of `count` packets from `first` on, each multiplied by
// coefficient(row, index).
struct RepairFrame {
  FecCode code = FecCode::kFlight;
  std::uint16_t first = 0;  // index of the first packet
  std::uint16_t count = 0;  // number of packets, 1 to kMaxCodedWindow
  std::uint16_t row = 0;    // row of the code's matrix
  ConstBytes symbol;
};

inline constexpr std::uint16_t kMaxCodedWindow = 3072;
inline constexpr std::size_t kCodedFrameSize = 1 + 2 + 1 + 2;
inline constexpr std::size_t kRepairHeaderSize = 1 + 2 + 1 + 2 + 2 + 2;
// A source symbol consists of the packet number (low 32 bits), the length of the frames after CODED
// (16 bits), and these frames.
inline constexpr std::size_t kSymbolHeaderSize = 4 + 2;
// A packet with a REPAIR is longer than the longest packet that the repair covers, but at most by
// this number of bytes.
inline constexpr std::size_t kRepairOverhead =
    kRepairHeaderSize + kSymbolHeaderSize - kCodedFrameSize;

// `body` holds the bytes that the length of the frame covers. The reader fails if the frame is
// malformed.
CodedFrame parse_coded(ByteReader& body);
RepairFrame parse_repair(ByteReader& body);
void write_coded(ByteWriter& out, const CodedFrame& frame);
void write_repair(ByteWriter& out, const RepairFrame& frame);

}  // namespace satrelay::stp
