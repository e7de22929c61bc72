// The header of a reset that is to be sent.
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"

namespace satrelay::tcp {

struct Reset {
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint8_t flags = 0;  // 0 means that no reset is to be sent

  explicit operator bool() const { return flags != 0; }
  void image(Image& image) { image(sequence, acknowledgment, flags); }
};

}  // namespace satrelay::tcp
