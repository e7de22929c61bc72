#include "pep/compress/block_codec.h"

#include <algorithm>
#include <vector>

#include "pep/base/check.h"
#include "pep/compress/effort.h"
#include "pep/compress/parameters.h"

namespace satrelay::compress {

namespace {

// In smaller blocks, the header of a zstd frame takes more bytes than compression could save.
constexpr std::size_t kMinPlain = 128;
constexpr std::size_t kMinPlainWithDictionary = 32;
constexpr std::uint32_t kFrameMagic = 0x28B5'2FFDU;  // big-endian, as load_u32() returns it

// Memory that a context needs for any block of up to kMaxPlainBlock bytes. zstd chooses its
// parameters by size classes of the input, and the smallest class ends at 16 KiB.
std::size_t encoder_memory(int lowest, int highest) {
  constexpr std::size_t kFirstTier = std::size_t{16} * 1024;
  std::size_t size = 0;
  for (int level = lowest; level <= highest; ++level) {
    for (const std::size_t plain : {kFirstTier, kMaxPlainBlock}) {
      size = std::max(size, ZSTD_estimateCCtxSize_usingCParams(parameters_of(level, plain, 0)));
    }
  }
  return size;
}

// Contexts are placed in memory of our own. A context in the library's memory frees its work space
// after some small blocks, and allocates it again for the next large block. The elements are
// std::max_align_t, because the library needs aligned memory.
using Workspace = std::vector<std::max_align_t>;

Workspace make_workspace(std::size_t size) {
  return Workspace(size / sizeof(std::max_align_t) + 1);
}

ZSTD_CCtx* context_in(Workspace& workspace) {
  ZSTD_CCtx* context =
      ZSTD_initStaticCCtx(workspace.data(), workspace.size() * sizeof(std::max_align_t));
  SATRELAY_CHECK(context != nullptr);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);  // packets have a CRC of their own
  return context;
}

}  // namespace

struct BlockEncoder::Impl {
  Impl(int level, int highest)
      : lowest_level(std::min(level, kLowestLevel)),
        highest_level(highest),
        workspace(make_workspace(encoder_memory(lowest_level, highest))) {
    context = context_in(workspace);
    set_level(level);
  }

  void make_room(std::size_t size) {
    if (size <= dictionary_room) return;
    dictionary_room = size;
    dictionary_workspace = make_workspace(size);
    dictionary_context = context_in(dictionary_workspace);
    // The octet before the frame identifies the dictionary.
    ZSTD_CCtx_setParameter(dictionary_context, ZSTD_c_dictIDFlag, 0);
    // If the receiver decodes with a wrong dictionary, the block may decode to other bytes. The
    // checksum detects that.
    ZSTD_CCtx_setParameter(dictionary_context, ZSTD_c_checksumFlag, 1);
  }

  void set_level(int level) {
    SATRELAY_CHECK(level >= lowest_level && level <= highest_level);
    if (level == present_level) return;
    present_level = level;
    apply_level(context, level);
  }

  int lowest_level;
  int highest_level;
  int present_level = 0;  // 0 until the first set_level()
  // zstd uses other parameters with a dictionary than without one. A single context would clear its
  // tables at each change of the parameters, so there are two contexts.
  std::size_t compress_with(const DictionaryLevels& dictionary, ConstBytes plain,
                            MutableBytes out) {
    SATRELAY_CHECK(dictionary.context_size() <= dictionary_room);
    // If the last block did not fit into its output, the context is still in the middle of that
    // frame, and would continue with the old dictionary. So the session is reset first.
    ZSTD_CCtx_reset(dictionary_context, ZSTD_reset_session_only);
    const std::size_t taken = ZSTD_CCtx_refCDict(dictionary_context, dictionary.at(present_level));
    SATRELAY_CHECK(ZSTD_isError(taken) == 0);
    return ZSTD_compress2(dictionary_context, out.data(), out.size(), plain.data(), plain.size());
  }

  Workspace workspace;
  ZSTD_CCtx* context = nullptr;  // lives in workspace
  std::size_t dictionary_room = 0;
  Workspace dictionary_workspace;
  ZSTD_CCtx* dictionary_context = nullptr;  // lives in dictionary_workspace
  CodecCounters counters;
};

BlockEncoder::BlockEncoder(int level, int highest)
    : impl_(std::make_unique<Impl>(level, highest)) {}
BlockEncoder::~BlockEncoder() = default;

void BlockEncoder::set_level(int level) { impl_->set_level(level); }
int BlockEncoder::level() const { return impl_->present_level; }

void BlockEncoder::make_room_for(const DictionaryLevels& dictionary) {
  impl_->make_room(dictionary.context_size());
}

const CodecCounters& BlockEncoder::counters() const { return impl_->counters; }

std::optional<std::size_t> BlockEncoder::compress(ConstBytes plain, MutableBytes out, Mode mode,
                                                  const DictionaryLevels* dictionary) {
  SATRELAY_CHECK(plain.size() <= kMaxPlainBlock && out.size() >= plain.size());
  CodecCounters& counters = impl_->counters;
  counters.plain_bytes += plain.size();
  const std::size_t least = dictionary == nullptr ? kMinPlain : kMinPlainWithDictionary;
  const bool skip = mode == Mode::kOff || plain.size() < least ||
                    (mode == Mode::kAuto && !looks_compressible(plain));
  if (skip) {
    ++counters.skipped_blocks;
    counters.encoded_bytes += kBlockHeaderSize + plain.size();
    return std::nullopt;
  }
  // The output is limited to the largest size that is worth sending, so the library stops as soon
  // as the block exceeds that size.
  const MutableBytes room = out.first(plain.size() - plain.size() / 16);
  const std::size_t size =
      dictionary != nullptr
          ? impl_->compress_with(*dictionary, plain, room)
          : ZSTD_compress2(impl_->context, room.data(), room.size(), plain.data(), plain.size());
  if (ZSTD_isError(size) != 0) {
    ++counters.expanded_blocks;
    counters.encoded_bytes += kBlockHeaderSize + plain.size();
    return std::nullopt;
  }
  ++counters.compressed_blocks;
  if (dictionary != nullptr) ++counters.dictionary_blocks;
  counters.encoded_bytes += kBlockHeaderSize + size;
  return size;
}

struct BlockDecoder::Impl {
  Impl() : workspace(make_workspace(ZSTD_estimateDCtxSize())) {
    context = ZSTD_initStaticDCtx(workspace.data(), workspace.size() * sizeof(std::max_align_t));
    SATRELAY_CHECK(context != nullptr);
  }

  Workspace workspace;
  ZSTD_DCtx* context = nullptr;  // lives in workspace
};

BlockDecoder::BlockDecoder() : impl_(std::make_unique<Impl>()) {}
BlockDecoder::~BlockDecoder() = default;

// Accepts exactly one frame of the current format. Skippable frames are refused. So are the formats
// before zstd 1.0, because their decoders allocate memory.
std::optional<std::size_t> plain_size_of(ConstBytes start) {
  if (start.size() < sizeof kFrameMagic || load_u32(start.data()) != kFrameMagic) {
    return std::nullopt;
  }
  // If the size is missing or cannot be read, zstd returns a huge number.
  const unsigned long long plain = ZSTD_getFrameContentSize(start.data(), start.size());
  if (plain == 0 || plain > kMaxPlainBlock) return std::nullopt;
  return static_cast<std::size_t>(plain);
}

std::optional<FrameShape> look_at_frame(ConstBytes encoded) {
  constexpr std::size_t kPartHeader = 3;  // RFC 8878 section 3.1.1.2
  constexpr std::size_t kChecksum = 4;
  constexpr unsigned kRunLength = 1;
  const auto plain = plain_size_of(encoded);
  ZSTD_frameHeader header;
  if (!plain || ZSTD_getFrameHeader(&header, encoded.data(), encoded.size()) != 0) {
    return std::nullopt;
  }
  FrameShape shape{.plain = *plain, .parts = 0};
  ConstBytes rest = encoded.subspan(header.headerSize);
  for (bool is_last = false; !is_last;) {
    if (rest.size() < kPartHeader || ++shape.parts > kMostParts) return std::nullopt;
    const unsigned word =
        load_u8(&rest[0]) | unsigned{load_u8(&rest[1])} << 8 | unsigned{load_u8(&rest[2])} << 16;
    is_last = (word & 1U) != 0;
    const std::size_t size = (word >> 1 & 3U) == kRunLength ? 1 : word >> 3;
    if (rest.size() - kPartHeader < size) return std::nullopt;
    rest = rest.subspan(kPartHeader + size);
  }
  if (rest.size() != (header.checksumFlag != 0 ? kChecksum : 0)) return std::nullopt;
  return shape;
}

std::optional<std::size_t> BlockDecoder::decompress(ConstBytes encoded, MutableBytes out,
                                                    const Dictionary* dictionary) {
  SATRELAY_CHECK(out.size() >= kMaxPlainBlock);
  if (!look_at_frame(encoded)) return std::nullopt;
  const std::size_t size = ZSTD_decompress_usingDDict(
      impl_->context, out.data(), kMaxPlainBlock, encoded.data(), encoded.size(),
      dictionary != nullptr ? dictionary->tables() : nullptr);
  if (ZSTD_isError(size) != 0) return std::nullopt;
  return size;
}

}  // namespace satrelay::compress
