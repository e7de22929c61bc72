#include "pep/base/image/image.h"

#include <algorithm>

namespace satrelay {

std::uint64_t Image::number(std::uint64_t value, std::size_t size) {
  constexpr unsigned kBitsOfAnOctet = 8;
  if (!reads()) {
    for (std::size_t i = 0; i < size; ++i) {
      to_->push_back(static_cast<std::byte>(value >> (kBitsOfAnOctet * i)));
    }
    return value;
  }
  if (from_.size() < size) fail();
  if (failed_) return 0;
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < size; ++i) {
    read |= std::to_integer<std::uint64_t>(from_[i]) << (kBitsOfAnOctet * i);
  }
  from_ = from_.subspan(size);
  return read;
}

void Image::octets(MutableBytes bytes) {
  if (!reads()) {
    to_->insert(to_->end(), bytes.begin(), bytes.end());
    return;
  }
  if (from_.size() < bytes.size()) fail();
  if (failed_) {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    return;
  }
  std::copy_n(from_.begin(), bytes.size(), bytes.begin());
  from_ = from_.subspan(bytes.size());
}

// never() stays never(): it is not stored relative to now. A reader fails if the instant lies
// beyond what Instant can hold.
void Image::visit(Instant& part) {
  const bool never = same(part.is_never());
  if (never) {
    part = Instant::never();
    return;
  }
  Duration since = reads() ? Duration() : part - now_;
  visit(since);
  std::int64_t nanoseconds = 0;
  if (__builtin_add_overflow(now_.to_nanoseconds(), since.to_nanoseconds(), &nanoseconds)) fail();
  part = Instant::from_nanoseconds(failed_ ? 0 : nanoseconds);
}

void Image::visit(Duration& part) { part = Duration::nanoseconds(same(part.to_nanoseconds())); }

void Image::visit(BitRate& part) {
  part = BitRate::bits_per_second(same(part.to_bits_per_second()));
}

void Image::visit(ByteCount& part) { part = ByteCount(same(part.value())); }

}  // namespace satrelay
