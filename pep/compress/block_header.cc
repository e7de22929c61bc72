#include "pep/base/check.h"
#include "pep/compress/block_codec.h"

namespace satrelay::compress {

std::optional<BlockHeader> parse_block_header(ConstBytes bytes) {
  if (bytes.size() < kBlockHeaderSize) return std::nullopt;
  const std::uint32_t word = load_u32(bytes.data());
  const auto kind = static_cast<BlockKind>(word >> 24);
  const BlockHeader header{.kind = kind, .encoded_size = word & 0xff'ffffU};
  const bool known =
      kind == BlockKind::kRaw || kind == BlockKind::kZstd ||
      (kind == BlockKind::kDictionary && header.encoded_size > kDictionaryNumberSize) ||
      (kind == BlockKind::kMarks && header.encoded_size == kMarksSize) ||
      (kind == BlockKind::kUrgent && header.encoded_size == kUrgentSize) ||
      (kind == BlockKind::kReset && header.encoded_size == kResetSize);
  if (!known || header.encoded_size == 0 || header.encoded_size > kMaxPlainBlock) {
    return std::nullopt;
  }
  return header;
}

void write_block_header(const BlockHeader& header, MutableBytes out) {
  SATRELAY_CHECK(out.size() >= kBlockHeaderSize && header.encoded_size > 0 &&
                 header.encoded_size <= kMaxPlainBlock);
  store_u32(out.data(), (static_cast<std::uint32_t>(header.kind) << 24) | header.encoded_size);
}

}  // namespace satrelay::compress
