#include "pep/wire/extension_headers.h"

namespace satrelay::wire {
namespace {

constexpr std::uint8_t kHopByHop = 0;
constexpr std::uint8_t kRouting = 43;
constexpr std::uint8_t kFragment = 44;
constexpr std::uint8_t kAuthentication = 51;
constexpr std::uint8_t kDestination = 60;
constexpr std::uint8_t kMobility = 135;
constexpr std::uint8_t kHostIdentity = 139;
constexpr std::uint8_t kShim6 = 140;
constexpr std::size_t kUnit = 8;  // the smallest size of any header

// Size of a header in bytes, from its length field. The length field of an Authentication Header is
// its size in 32-bit words, minus two (RFC 4302 section 2.2).
std::size_t size_of(std::uint8_t number, const std::byte* header) {
  if (number == kFragment) return kFragmentHeaderSize;
  const std::size_t length = load_u8(header + 1);
  return number == kAuthentication ? (length + 2) * 4 : (length + 1) * kUnit;
}

}  // namespace

bool is_extension_header(std::uint8_t number) {
  switch (number) {
    case kHopByHop:
    case kRouting:
    case kFragment:
    case kAuthentication:
    case kDestination:
    case kMobility:
    case kHostIdentity:
    case kShim6:
      return true;
    default:
      return false;
  }
}

ExtensionHeaders walk_extension_headers(std::uint8_t first, ConstBytes payload) {
  using End = ExtensionHeaders::End;
  ExtensionHeaders headers;
  headers.protocol = first;
  std::optional<std::size_t> named_at;
  while (is_extension_header(headers.protocol)) {
    const std::uint8_t number = headers.protocol;
    const ConstBytes rest = payload.subspan(headers.size);
    headers.end = End::kUnknown;
    if (headers.count_ == kMostExtensionHeaders || rest.size() < kUnit) return headers;
    const std::size_t size = size_of(number, rest.data());
    // Refuses a fragment within a fragment: some hosts reassemble it twice, and others not at all.
    if (size > rest.size() || (number == kFragment && headers.fragment)) return headers;
    headers.numbers_[headers.count_++] = number;
    const std::size_t before = headers.size;
    headers.size += size;
    headers.protocol = load_u8(rest.data());
    if (number == kRouting && load_u8(rest.data() + 3) != 0) headers.segments_left = true;
    if (number == kFragment) {
      const std::uint16_t field = load_u16(rest.data() + 2);
      headers.fragment = {.identification = load_u32(rest.data() + 4),
                          .offset = static_cast<std::uint16_t>(field & 0xfff8U),
                          .more = (field & 1U) != 0,
                          .next_header = headers.protocol,
                          .data_at = headers.size,
                          .named_at = named_at};
      if (headers.fragment->offset != 0) {
        headers.end = End::kLaterFragment;
        return headers;
      }
    }
    named_at = before;
    headers.end = End::kTransport;
  }
  return headers;
}

}  // namespace satrelay::wire
