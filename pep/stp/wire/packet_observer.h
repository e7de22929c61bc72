// Looks at the packets of a session as they are before they are encrypted, and after they have been
// decrypted. For whoever needs to see what two gateways say to each other.
#pragma once

#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::stp {

class PacketObserver {
 public:
  enum class Way : std::uint8_t { kSent, kReceived };
  virtual ~PacketObserver() = default;
  // `header`: kHeaderSize bytes. `rest`: the frames, without checksum or tag; of a HELLO, which is
  // never encrypted, all that is behind the header.
  virtual void see(Way way, ConstBytes header, ConstBytes rest) = 0;
};

}  // namespace satrelay::stp
