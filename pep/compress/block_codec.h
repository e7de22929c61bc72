// The encoding of a relayed stream between the gateways. It is a sequence of blocks: raw, zstd,
// marks, zstd with a dictionary, an urgent mark, or a reset.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +---------------+-----------------------------------------------+
//   |     Kind      |              Encoded length                   |
//   +---------------+-----------------------------------------------+
//   |  Encoded bytes ...                                            |
//
// - Kind 0, raw: the encoded bytes are the plain bytes. They may be delivered before the block is
//   whole.
// - Kind 1, zstd: one zstd frame. It decodes to at most kMaxPlainBlock bytes, says to how many, and
//   has at most kMostParts blocks of zstd's own.
// - Kind 2, marks: no plain bytes, but how the sending host's packets look from here on: their
//   traffic class (without the ECN bits) and their hop limit, an octet each.
// - Kind 3, dictionary: an octet, the number that the receiver has given a dictionary, then one
//   zstd frame as of kind 1. It must be decoded with that dictionary. The frame has no dictionary
//   id, but a checksum of the plain bytes.
// - Kind 4, urgent: no plain bytes, but a number of 32 bits: how many of the next bytes are urgent.
//   The last of them is the urgent octet of RFC 6093. The number is malformed if it is 0, or more
//   than a window and a pointer.
// - Kind 5, reset: one octet, 0. The sending host has reset its connection behind the bytes before
//   this block, which is the last one.
//
// Kinds 4 and 5 are sent only if both ends have offered their capability (docs/stp-wire.md section
// 4). Encoded length: 1 to kMaxPlainBlock, of marks 2, of an urgent mark 4, of a reset 1. Anything
// else is malformed and ends the stream.
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
  std::uint32_t encoded_size = 0;  // bytes behind the header
};

// nullopt if the header (at least kBlockHeaderSize bytes) is malformed.
std::optional<BlockHeader> parse_block_header(ConstBytes bytes);
void write_block_header(const BlockHeader& header, MutableBytes out);

enum class Mode : std::uint8_t { kOff, kAuto, kOn };

// One context, used by all flows of a worker in turn; blocks are independent of each other.
class BlockEncoder {
 public:
  // zstd's levels: the level at first, and the highest that may be set.
  explicit BlockEncoder(int level) : BlockEncoder(level, level) {}
  BlockEncoder(int level, int highest);
  ~BlockEncoder();

  void set_level(int level);
  int level() const;
  // Must be called before the first block with that dictionary. No other function allocates.
  void make_room_for(const DictionaryLevels& dictionary);

  // Compresses `plain` (1 to kMaxPlainBlock bytes) into `out` (as large as `plain`). Returns the
  // encoded size, or nullopt if the block should be sent raw. That is if a probe calls it
  // incompressible, if it is too small to gain, or if it would not become smaller by at least 1/16.
  // `dictionary`: nullptr, or one that is ready for the level that is set.
  std::optional<std::size_t> compress(ConstBytes plain, MutableBytes out, Mode mode,
                                      const DictionaryLevels* dictionary = nullptr);
  const CodecCounters& counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The shape of a zstd frame, from its headers.
struct FrameShape {
  std::size_t plain = 0;  // bytes that it decodes to, at most kMaxPlainBlock
  std::size_t parts = 0;  // zstd's blocks, 1 to kMostParts
};
// The plain size, from the first kFrameStart bytes of a frame, or from all if there are fewer.
// nullopt if it is not a frame, or not a frame of a block.
inline constexpr std::size_t kFrameStart = 18;
std::optional<std::size_t> plain_size_of(ConstBytes start);
// The shape of a whole frame. nullopt if it is malformed, or not a frame of a block. Decodes
// nothing.
std::optional<FrameShape> look_at_frame(ConstBytes encoded);

class BlockDecoder {
 public:
  BlockDecoder();
  ~BlockDecoder();

  // Decodes a zstd frame into `out` (kMaxPlainBlock bytes), with the dictionary that it was made
  // with, if any. nullopt if it is malformed or would exceed kMaxPlainBlock.
  std::optional<std::size_t> decompress(ConstBytes encoded, MutableBytes out,
                                        const Dictionary* dictionary = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Whether a sample of `plain` looks compressible: its order-0 entropy is well under 8 bits a byte,
// or it repeats strings.
bool looks_compressible(ConstBytes plain);

}  // namespace satrelay::compress
