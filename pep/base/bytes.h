// Spans of bytes, and bounded big-endian readers and writers over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace satrelay {

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// Loads and stores without a check of the bounds. The caller must have checked them.
inline std::uint8_t load_u8(const std::byte* p) { return static_cast<std::uint8_t>(*p); }
inline std::uint16_t load_u16(const std::byte* p) {
  std::uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap16(v);
}
inline std::uint32_t load_u32(const std::byte* p) {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}
inline std::uint64_t load_u64(const std::byte* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}
inline void store_u8(std::byte* p, std::uint8_t v) { *p = static_cast<std::byte>(v); }
inline void store_u16(std::byte* p, std::uint16_t v) {
  v = __builtin_bswap16(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store_u32(std::byte* p, std::uint32_t v) {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store_u64(std::byte* p, std::uint64_t v) {
  v = __builtin_bswap64(v);
  std::memcpy(p, &v, sizeof v);
}

// Reads network-order integers from the front of a span. A read past the end makes the reader
// fail for good and yields zeros, so a parser checks ok() once, after its last read.
class ByteReader {
 public:
  explicit ByteReader(ConstBytes bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  std::size_t remaining() const { return rest_.size(); }
  ConstBytes rest() const { return rest_; }

  std::uint8_t u8() {
    const std::byte* p = take(1);
    return p != nullptr ? load_u8(p) : std::uint8_t{0};
  }
  std::uint16_t u16() {
    const std::byte* p = take(2);
    return p != nullptr ? load_u16(p) : std::uint16_t{0};
  }
  std::uint32_t u32() {
    const std::byte* p = take(4);
    return p != nullptr ? load_u32(p) : 0U;
  }
  std::uint64_t u64() {
    const std::byte* p = take(8);
    return p != nullptr ? load_u64(p) : 0U;
  }
  ConstBytes bytes(std::size_t n) {
    const std::byte* p = take(n);
    return p != nullptr ? ConstBytes(p, n) : ConstBytes();
  }

 private:
  const std::byte* take(std::size_t n) {
    if (n > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return nullptr;
    }
    const std::byte* p = rest_.data();
    rest_ = rest_.subspan(n);
    return p;
  }
  ConstBytes rest_;
  bool ok_ = true;
};

// Writes network-order integers to the front of a span. A write past the end makes the writer
// fail for good and changes nothing.
class ByteWriter {
 public:
  explicit ByteWriter(MutableBytes room) : room_(room) {}

  bool ok() const { return ok_; }
  std::size_t written() const { return written_; }
  std::size_t remaining() const { return room_.size() - written_; }

  void u8(std::uint8_t v) {
    if (std::byte* p = take(1)) store_u8(p, v);
  }
  void u16(std::uint16_t v) {
    if (std::byte* p = take(2)) store_u16(p, v);
  }
  void u32(std::uint32_t v) {
    if (std::byte* p = take(4)) store_u32(p, v);
  }
  void u64(std::uint64_t v) {
    if (std::byte* p = take(8)) store_u64(p, v);
  }
  void bytes(ConstBytes b) {
    if (std::byte* p = take(b.size()); p != nullptr && !b.empty()) {
      std::memcpy(p, b.data(), b.size());
    }
  }
  // Returns the next `n` bytes for the caller to fill, or an empty span if they do not fit.
  MutableBytes reserve(std::size_t n) {
    std::byte* p = take(n);
    return p != nullptr ? MutableBytes(p, n) : MutableBytes();
  }

 private:
  std::byte* take(std::size_t n) {
    if (!ok_ || n > remaining()) {
      ok_ = false;
      return nullptr;
    }
    std::byte* p = room_.data() + written_;
    written_ += n;
    return p;
  }
  MutableBytes room_;
  std::size_t written_ = 0;
  bool ok_ = true;
};

}  // namespace satrelay
