// OPEN's metadata as its octets: of very many flows each keeps them, and hardly anybody asks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "relay/gateway/frames/open_metadata.h"

namespace satrelay::gateway {

class PackedMetadata {
 public:
  PackedMetadata() = default;
  PackedMetadata& operator=(const OpenMetadata& metadata) {
    std::array<std::byte, kMaxOpenMetadata> written{};
    size_ = static_cast<std::uint8_t>(write_open_metadata(metadata, written));
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(size_);
    std::copy_n(written.begin(), size_, bytes_.get());
    return *this;
  }
  ConstBytes bytes() const { return {bytes_.get(), size_}; }
  // What was assigned last; before that, of nobody.
  OpenMetadata unpack() const { return parse_open_metadata(bytes()).value_or(OpenMetadata{}); }

 private:
  static_assert(kMaxOpenMetadata <= 0xff);
  std::unique_ptr<std::byte[]> bytes_;
  std::uint8_t size_ = 0;
};

}  // namespace satrelay::gateway
