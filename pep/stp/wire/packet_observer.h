// Gets the packets of a session before encryption and after decryption. Tools use it to show what
// two gateways send to each other.
#pragma once

#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::stp {

class PacketObserver {
 public:
  enum class Way : std::uint8_t { kSent, kReceived };
  virtual ~PacketObserver() = default;
  // `header` has kHeaderSize bytes. `rest` holds the frames, without checksum or tag. A HELLO is
  // never encrypted, so its `rest` is everything after the header.
  virtual void see(Way way, ConstBytes header, ConstBytes rest) = 0;
};

}  // namespace satrelay::stp
