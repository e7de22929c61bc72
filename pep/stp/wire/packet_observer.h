// Sees the packets of a session before they are encrypted and after they are decrypted. It is for
// tools that show what two gateways send each other.
#pragma once

#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::stp {

class PacketObserver {
 public:
  enum class Way : std::uint8_t { kSent, kReceived };
  virtual ~PacketObserver() = default;
  // `header`: kHeaderSize bytes. `rest`: the frames, without checksum or tag. A HELLO is never
  // encrypted; its `rest` is all that stands behind the header.
  virtual void see(Way way, ConstBytes header, ConstBytes rest) = 0;
};

}  // namespace satrelay::stp
