// IPv6 extension headers (RFC 8200 section 4, RFC 4302, RFC 6564). They are placed between the
// fixed header and the transport header, and only the next-header field of the fixed header
// announces them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pep/base/bytes.h"

namespace satrelay::wire {

// More than a sender needs: RFC 8200 section 4.1 names six kinds, and one of them may occur twice.
inline constexpr std::size_t kMostExtensionHeaders = 16;
inline constexpr std::size_t kFragmentHeaderSize = 8;

struct ExtensionHeaders {
  enum class End : std::uint8_t {
    kTransport,      // the header of `protocol` begins at `size`
    kLaterFragment,  // not the first fragment: the data at `size` continues its datagram
    kUnknown,        // too many headers, a malformed header, or a second Fragment header
  };
  // RFC 8200 section 4.5. An atomic fragment (RFC 6946: offset 0, no more fragments) is a whole
  // datagram.
  struct Fragment {
    std::uint32_t identification = 0;
    std::uint16_t offset = 0;  // bytes
    bool more = false;
    std::uint8_t next_header = 0;  // identification in the Fragment header
    std::size_t data_at = 0;       // offset of the fragment's data, after the Fragment header
    // Offset of the extension header directly before the Fragment header; nullopt if the Fragment
    // header is the first extension header.
    std::optional<std::size_t> named_at;
    bool is_atomic() const { return offset == 0 && !more; }
  };

  End end = End::kTransport;
  // Number of the header at `size`, from the next-header field before it.
  std::uint8_t protocol = 0;
  std::size_t size = 0;  // bytes of all headers that were walked
  std::optional<Fragment> fragment;
  // A Routing header names further hosts to visit (RFC 8200 section 4.4). So the destination in the
  // fixed header is not the destination of the transport segment.
  bool segments_left = false;
  // The numbers of the headers that were walked, in their order.
  std::span<const std::uint8_t> numbers() const { return std::span(numbers_).first(count_); }

 private:
  friend ExtensionHeaders walk_extension_headers(std::uint8_t first, ConstBytes payload);
  std::array<std::uint8_t, kMostExtensionHeaders> numbers_{};
  std::uint8_t count_ = 0;
};

bool is_extension_header(std::uint8_t number);
// `first` is the next-header value of the fixed header, and `payload` is all that its length
// covers. Walks at most kMostExtensionHeaders headers, of up to 2,048 bytes each. Encrypted data
// (ESP) counts as a transport protocol here, and so does "no next header".
ExtensionHeaders walk_extension_headers(std::uint8_t first, ConstBytes payload);

}  // namespace satrelay::wire
