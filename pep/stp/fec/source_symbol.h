// A packet as a symbol of the code: its number, the size of its frames, and the frames, padded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "pep/base/bytes.h"
#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

// Size of a buffer for the symbol of any datagram, in bytes.
inline std::size_t symbol_stride(std::size_t max_datagram) {
  return FecCodec::padded(kSymbolHeaderSize + max_datagram);
}

// Writes a symbol into `out`, a buffer of symbol_stride() bytes. Returns the size without padding.
inline std::size_t write_symbol(std::byte* out, std::uint64_t number, ConstBytes frames) {
  const std::size_t size = kSymbolHeaderSize + frames.size();
  store_u32(out, static_cast<std::uint32_t>(number));
  store_u16(out + 4, static_cast<std::uint16_t>(frames.size()));
  std::memcpy(out + kSymbolHeaderSize, frames.data(), frames.size());
  std::memset(out + size, 0, FecCodec::padded(size) - size);
  return size;
}

class SourceSymbol {
 public:
  explicit SourceSymbol(std::size_t stride) : stride_(stride) {}
  std::size_t assign(std::uint64_t number, ConstBytes frames) {
    if (!bytes_) bytes_.reset(new std::byte[stride_]);
    return write_symbol(bytes_.get(), number, frames);
  }
  ConstBytes padded(std::size_t size) const { return {bytes_.get(), FecCodec::padded(size)}; }

 private:
  std::size_t stride_;
  std::unique_ptr<std::byte[]> bytes_;  // allocated for the first symbol
};

}  // namespace satrelay::stp
