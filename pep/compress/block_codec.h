// The encoding of a relayed stream between the gateways. The stream is a sequence of blocks: raw,
// zstd, marks, zstd with a dictionary, an urgent mark, or a reset.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +---------------+-----------------------------------------------+
//   |     Kind      |              Encoded length                   |
//   +---------------+-----------------------------------------------+
//   |  Encoded bytes ...                                            |
//
// - Kind 0, raw: the encoded bytes are the plain bytes. They may be delivered before the block is
//   complete.
// - Kind 1, zstd: one zstd frame. The frame decodes to at most kMaxPlainBlock bytes, states that
//   size, and has at most kMostParts of zstd's own blocks.
// - Kind 2, marks: two octets and no plain bytes. The octets are the traffic class (without the ECN
//   bits) and the hop limit of the sending host's packets from here on.
// - Kind 3, dictionary: an octet with the number that the receiver has given to a dictionary, then
//   one zstd frame as in kind 1. The frame must be decoded with that dictionary. The frame has no
//   dictionary id, but a checksum of the plain bytes.
// - Kind 4, urgent: a 32-bit number and no plain bytes. The number tells how many of the next plain
//   bytes are urgent. The last urgent byte is the urgent octet of RFC 6093. The number is malformed
//   if it is 0, or more than the largest TCP window plus the largest urgent pointer.
// - Kind 5, reset: one octet, 0. The sending host has reset its connection after the bytes before
//   this block, which is the last block of the stream.
//
// Kinds 4 and 5 are sent only if both ends have offered the capability for them (docs/stp-wire.md
// section 4). The encoded length is at most kMaxPlainBlock. It is at least 1 for kinds 0 and 1, at
// least 2 for kind 3, and exactly 2 for marks, 4 for an urgent mark and 1 for a reset. Any other
// block is malformed and ends the stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/compress/codec_counters.h"
#include "pep/compress/codec_work.h"
#include "pep/compress/dictionary.h"

namespace satrelay::compress {

inline constexpr std::size_t kBlockHeaderSize = 4;

enum class BlockKind : std::uint8_t {
  kRaw = 0,
  kZstd = 1,
  kMarks = 2,
  kDictionary = 3,
  kUrgent = 4,
  kReset = 5
};
inline constexpr std::size_t kMarksSize = 2;
inline constexpr std::size_t kUrgentSize = 4;
inline constexpr std::size_t kResetSize = 1;
inline constexpr std::size_t kDictionaryNumberSize = 1;

struct BlockHeader {
  BlockKind kind = BlockKind::kRaw;
  std::uint32_t encoded_size = 0;  // bytes after the header
};

// `bytes` has at least kBlockHeaderSize bytes. Returns nullopt if the header is malformed.
std::optional<BlockHeader> parse_block_header(ConstBytes bytes);
void write_block_header(const BlockHeader& header, MutableBytes out);

enum class Mode : std::uint8_t { kOff, kAuto, kOn };

// All flows of a worker use one encoder in turn, because blocks are independent of each other.
class BlockEncoder {
 public:
  // `level` is the initial level of zstd, and `highest` is the highest level that may be set.
  explicit BlockEncoder(int level) : BlockEncoder(level, level) {}
  BlockEncoder(int level, int highest);
  ~BlockEncoder();

  void set_level(int level);
  int level() const;
  // Must be called before the first block with this dictionary. No other function allocates memory.
  void make_room_for(const DictionaryLevels& dictionary);

  // Compresses `plain` (1 to kMaxPlainBlock bytes) into `out` (as large as `plain`). Returns the
  // encoded size, or nullopt if the block should be sent raw: if it looks incompressible, if it is
  // too small to gain, or if it would not become smaller by at least 1/16. `dictionary` is nullptr,
  // or has tables for the level that is set.
  std::optional<std::size_t> compress(ConstBytes plain, MutableBytes out, Mode mode,
                                      const DictionaryLevels* dictionary = nullptr);
  const CodecCounters& counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Properties of a zstd frame, from its headers.
struct FrameShape {
  std::size_t plain = 0;  // decoded size in bytes, at most kMaxPlainBlock
  std::size_t parts = 0;  // number of zstd's own blocks, 1 to kMostParts
};
// Returns the plain size, from the first kFrameStart bytes of a frame, or from the whole frame if
// it is shorter. Returns nullopt if the bytes are not the start of a zstd frame, or if the plain
// size is 0 or above kMaxPlainBlock.
inline constexpr std::size_t kFrameStart = 18;
std::optional<std::size_t> plain_size_of(ConstBytes start);
// Returns the shape of a whole frame without decoding it. Returns nullopt if the frame is
// malformed, or if its shape is not allowed in a block.
std::optional<FrameShape> look_at_frame(ConstBytes encoded);

class BlockDecoder {
 public:
  BlockDecoder();
  ~BlockDecoder();

  // Decodes a zstd frame into `out` (at least kMaxPlainBlock bytes). `dictionary` is the dictionary
  // that the frame was made with, if any. Returns the plain size; nullopt if the frame is malformed
  // or would exceed kMaxPlainBlock.
  std::optional<std::size_t> decompress(ConstBytes encoded, MutableBytes out,
                                        const Dictionary* dictionary = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Whether a sample of `plain` looks compressible: its order-0 entropy is well under 8 bits per
// byte, or it contains repeated strings.
bool looks_compressible(ConstBytes plain);

}  // namespace satrelay::compress
