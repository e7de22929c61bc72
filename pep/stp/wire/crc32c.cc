#include "pep/stp/wire/crc32c.h"

#include <isa-l/crc.h>

namespace satrelay::stp {

std::uint32_t crc32c_update(std::uint32_t state, ConstBytes bytes) {
  // ISA-L only reads the data, but its signature predates const.
  auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
  return crc32_iscsi(data, static_cast<int>(bytes.size()), state);
}

}  // namespace satrelay::stp
