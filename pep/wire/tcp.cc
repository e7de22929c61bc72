#include "pep/wire/tcp.h"

#include <algorithm>

#include "pep/base/check.h"

namespace satrelay::wire {

namespace {

// Option kinds.
constexpr std::uint8_t kEndOfList = 0;
constexpr std::uint8_t kNoOperation = 1;
constexpr std::uint8_t kMss = 2;
constexpr std::uint8_t kWindowScale = 3;
constexpr std::uint8_t kSackPermitted = 4;
constexpr std::uint8_t kSack = 5;
constexpr std::uint8_t kTimestamps = 8;
constexpr std::uint8_t kMd5 = 19;
constexpr std::uint8_t kAo = 29;
constexpr std::uint8_t kMptcp = 30;
constexpr std::uint8_t kFastOpen = 34;
constexpr std::uint8_t kMptcpJoin = 1;  // subtype

constexpr std::size_t kMssSize = 4;
constexpr std::size_t kWindowScaleSize = 3;
constexpr std::size_t kSackPermittedSize = 2;
constexpr std::size_t kTimestampsSize = 10;
constexpr std::size_t kSackBlockSize = 8;
// Sizes as written, with NOPs in front as padding, so that every field is aligned (RFC 7323
// appendix A).
constexpr std::size_t kPaddedTimestampsSize = 12;
constexpr std::size_t kPaddedWordSize = 4;
// NOP NOP Timestamps(10): the first options of nearly every segment of an established connection.
constexpr std::uint32_t kTimestampsPrefix = 0x0101'080aU;

// Parses the option in option[0..size): kind, length byte and body. Returns false if the size is
// wrong for the kind.
bool parse_option(const std::byte* option, std::size_t size, TcpOptions& options) {
  switch (load_u8(option)) {
    case kMss:
      if (size != kMssSize) return false;
      options.mss = load_u16(option + 2);
      return true;
    case kWindowScale:
      if (size != kWindowScaleSize) return false;
      options.window_scale = load_u8(option + 2);
      return true;
    case kSackPermitted:
      if (size != kSackPermittedSize) return false;
      options.sack_permitted = true;
      return true;
    case kTimestamps:
      if (size != kTimestampsSize) return false;
      options.timestamps = {.value = load_u32(option + 2), .echo_reply = load_u32(option + 6)};
      return true;
    case kSack:
      if (size < 2 + kSackBlockSize || (size - 2) % kSackBlockSize != 0) return false;
      for (std::size_t at = 2; at < size; at += kSackBlockSize) {
        // 40 octets of options hold no more blocks.
        if (options.sack_count == kMaxSackBlocks) return false;
        options.sack[options.sack_count++] = {.begin = load_u32(option + at),
                                              .end = load_u32(option + at + 4)};
      }
      return true;
    case kMd5:
      options.has_md5 = true;
      return true;
    case kAo:
      options.has_ao = true;
      return true;
    case kMptcp:
      options.has_mptcp = true;
      if (size > 2 && load_u8(option + 2) >> 4 == kMptcpJoin) options.has_mptcp_join = true;
      return true;
    case kFastOpen:
      options.has_fast_open = true;
      return true;
    default:
      options.has_unknown = true;
      return true;
  }
}

bool parse_options(ConstBytes bytes, TcpOptions& options) {
  while (!bytes.empty()) {
    const std::uint8_t kind = load_u8(bytes.data());
    if (kind == kEndOfList) return true;
    if (kind == kNoOperation) {
      bytes = bytes.subspan(1);
      continue;
    }
    if (bytes.size() < 2) return false;
    const std::size_t size = load_u8(bytes.data() + 1);
    if (size < 2 || size > bytes.size()) return false;
    if (!parse_option(bytes.data(), size, options)) return false;
    bytes = bytes.subspan(size);
  }
  return true;
}

// Bytes of all options other than SACK blocks, including padding.
std::size_t fixed_options_size(const TcpOptions& options) {
  std::size_t size = 0;
  if (options.mss) size += kMssSize;
  if (options.timestamps) size += kPaddedTimestampsSize;
  // With timestamps, SACK-permitted takes the place of padding before the timestamps option.
  if (options.sack_permitted && !options.timestamps) size += kPaddedWordSize;
  if (options.window_scale) size += kPaddedWordSize;
  return size;
}

std::size_t sack_blocks_that_fit(const TcpOptions& options, std::size_t fixed_size) {
  constexpr std::size_t kRoom = kMaxTcpHeaderSize - kTcpHeaderSize;
  if (options.sack_count == 0 || fixed_size + kPaddedWordSize > kRoom) return 0;
  return std::min<std::size_t>({options.sack_count, kMaxSackBlocks,
                                (kRoom - fixed_size - kPaddedWordSize) / kSackBlockSize});
}

std::byte* write_options(const TcpOptions& options, std::size_t sack_blocks, std::byte* p) {
  if (options.mss) {
    store_u8(p, kMss);
    store_u8(p + 1, kMssSize);
    store_u16(p + 2, *options.mss);
    p += kMssSize;
  }
  if (options.sack_permitted || options.timestamps) {
    store_u8(p, options.sack_permitted ? kSackPermitted : kNoOperation);
    store_u8(p + 1, options.sack_permitted ? kSackPermittedSize : kNoOperation);
    if (options.timestamps) {
      store_u8(p + 2, kTimestamps);
      store_u8(p + 3, kTimestampsSize);
      store_u32(p + 4, options.timestamps->value);
      store_u32(p + 8, options.timestamps->echo_reply);
      p += kPaddedTimestampsSize;
    } else {
      store_u8(p + 2, kNoOperation);
      store_u8(p + 3, kNoOperation);
      p += kPaddedWordSize;
    }
  }
  if (options.window_scale) {
    store_u8(p, kNoOperation);
    store_u8(p + 1, kWindowScale);
    store_u8(p + 2, kWindowScaleSize);
    store_u8(p + 3, *options.window_scale);
    p += kPaddedWordSize;
  }
  if (sack_blocks > 0) {
    store_u8(p, kNoOperation);
    store_u8(p + 1, kNoOperation);
    store_u8(p + 2, kSack);
    store_u8(p + 3, static_cast<std::uint8_t>(2 + sack_blocks * kSackBlockSize));
    p += kPaddedWordSize;
    for (std::size_t i = 0; i < sack_blocks; ++i) {
      store_u32(p, options.sack[i].begin);
      store_u32(p + 4, options.sack[i].end);
      p += kSackBlockSize;
    }
  }
  return p;
}

}  // namespace

bool parse_tcp(ConstBytes segment, ParsedTcp& parsed) {
  if (segment.size() < kTcpHeaderSize) return false;
  const std::byte* p = segment.data();
  const std::size_t header_size = std::size_t{load_u8(p + 12)} / 16 * 4;
  if (header_size < kTcpHeaderSize || header_size > segment.size()) return false;

  parsed.header_size = header_size;
  TcpHeader& header = parsed.header;
  header.source_port = load_u16(p);
  header.destination_port = load_u16(p + 2);
  header.sequence = load_u32(p + 4);
  header.acknowledgment = load_u32(p + 8);
  header.flags = load_u8(p + 13);
  header.window = load_u16(p + 14);
  header.urgent = load_u16(p + 18);

  std::size_t at = kTcpHeaderSize;
  if (header_size >= kTcpHeaderSize + kPaddedTimestampsSize &&
      load_u32(p + kTcpHeaderSize) == kTimestampsPrefix) [[likely]] {
    header.options.timestamps = {.value = load_u32(p + 24), .echo_reply = load_u32(p + 28)};
    at += kPaddedTimestampsSize;
  }
  if (at < header_size && !parse_options(segment.subspan(at, header_size - at), header.options)) {
    return false;
  }
  return true;
}

std::optional<ParsedTcp> parse_tcp(ConstBytes segment) {
  std::optional<ParsedTcp> parsed(std::in_place);
  if (!parse_tcp(segment, *parsed)) parsed.reset();
  return parsed;
}

std::size_t tcp_header_size(const TcpHeader& header) {
  const std::size_t fixed_size = fixed_options_size(header.options);
  const std::size_t sack_blocks = sack_blocks_that_fit(header.options, fixed_size);
  return kTcpHeaderSize + fixed_size +
         (sack_blocks > 0 ? kPaddedWordSize + sack_blocks * kSackBlockSize : 0);
}

std::size_t write_tcp(const TcpHeader& header, MutableBytes out) {
  const std::size_t fixed_size = fixed_options_size(header.options);
  const std::size_t sack_blocks = sack_blocks_that_fit(header.options, fixed_size);
  const std::size_t size = kTcpHeaderSize + fixed_size +
                           (sack_blocks > 0 ? kPaddedWordSize + sack_blocks * kSackBlockSize : 0);
  SATRELAY_CHECK(out.size() >= size);
  std::byte* p = out.data();
  store_u16(p, header.source_port);
  store_u16(p + 2, header.destination_port);
  store_u32(p + 4, header.sequence);
  store_u32(p + 8, header.acknowledgment);
  store_u8(p + 12, static_cast<std::uint8_t>(size / 4 * 16));
  store_u8(p + 13, header.flags);
  store_u16(p + 14, header.window);
  store_u16(p + kTcpChecksumOffset, 0);
  store_u16(p + 18, header.urgent);
  const std::byte* const end = write_options(header.options, sack_blocks, p + kTcpHeaderSize);
  SATRELAY_DCHECK(end == p + size);
  static_cast<void>(end);
  return size;
}

}  // namespace satrelay::wire
