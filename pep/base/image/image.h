// The image of an object is its state as octets, without pointers. Another object of the same class
// is later made from it, perhaps in another process. Only the build that wrote an image reads it.
// So an image does not name members: reader and writer visit the same members in the same order.
//
// A class that has an image lists its members once, for both directions:
//
//   void image(Image& image) { image(begin_, sent_, deadline_); }
//
// The reading process first constructs an object with the arguments that the image leaves out:
// arenas, shared settings, counters. It then reads the image into that object. Instants are stored
// relative to now, so that the epochs of two processes may differ. Stored bytes stay in their
// arena: the image holds the numbers of their blocks, and writing the image takes the blocks away
// from the object.
//
// Integers are little-endian. `tests/tidy/images.py` compares the members of each class with the
// list in its image().
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay {

class Image {
 public:
  // Appends to `to`, which outlives the image.
  static Image writer(std::vector<std::byte>& to, Instant now) { return {&to, {}, now}; }
  // Reads from `from`, which outlives the image.
  static Image reader(ConstBytes from, Instant now) { return {nullptr, from, now}; }

  bool reads() const { return to_ == nullptr; }
  Instant now() const { return now_; }
  // Whether a reader found that the octets end too early or contradict themselves. From then on,
  // the reader returns only zeros. The objects read so far must not be used, only destroyed.
  bool failed() const { return failed_; }
  void fail() {
    failed_ = true;
    from_ = {};
  }
  // Whether a reader has read all octets, and none was missing.
  bool complete() const { return !failed_ && from_.empty(); }

  // Writes all of `parts`, or replaces them by the values that it reads.
  template <typename... Parts>
  void operator()(Parts&... parts) {
    (visit(parts), ...);
  }
  // Writes or reads a value that cannot be passed by reference, such as a bit-field. Returns the
  // value to assign.
  template <typename Value>
  [[nodiscard]] Value same(Value value) {
    visit(value);
    return value;
  }
  // Writes or reads a number that is at most `most`: an index, a number of elements or an
  // enumerator. If a reader finds a larger value, it fails and sets `part` to zero.
  template <typename Part>
  void at_most(std::type_identity_t<Part> most, Part& part) {
    visit(part);
    if (part <= most) return;
    part = Part{};
    fail();
  }
  // Writes or reads a pointer that may be nullptr. If the image contains an object, a reader calls
  // `make` to construct one, and then reads its members.
  template <typename Part, typename Make>
  void owned(std::unique_ptr<Part>& part, Make&& make) {
    if (!same(part != nullptr)) return part.reset();
    if (reads()) part = make();
    visit(*part);
  }
  // Writes or reads how many elements follow. Each element takes at least one octet, so a reader
  // fails if fewer octets are left.
  [[nodiscard]] std::size_t count(std::size_t elements) {
    const auto number = same(static_cast<std::uint64_t>(elements));
    if (!reads() || number <= from_.size()) return static_cast<std::size_t>(number);
    fail();
    return 0;
  }
  // Writes or reads octets, but not how many octets there are.
  void octets(MutableBytes bytes);

 private:
  Image(std::vector<std::byte>* to, ConstBytes from, Instant now)
      : to_(to), from_(from), now_(now) {}

  template <typename Part>
  void visit(Part& part) {
    if constexpr (std::same_as<Part, bool>) {
      part = number(static_cast<std::uint64_t>(part), sizeof(part)) != 0;
    } else if constexpr (std::is_enum_v<Part>) {
      using Number = std::make_unsigned_t<std::underlying_type_t<Part>>;
      part = static_cast<Part>(number(static_cast<Number>(part), sizeof(Part)));
    } else if constexpr (std::integral<Part>) {
      using Number = std::make_unsigned_t<Part>;
      part = static_cast<Part>(number(static_cast<Number>(part), sizeof(Part)));
    } else if constexpr (std::same_as<Part, double>) {
      part = std::bit_cast<double>(number(std::bit_cast<std::uint64_t>(part), sizeof(Part)));
    } else {
      part.image(*this);
    }
  }
  void visit(Instant& part);
  void visit(Duration& part);
  void visit(BitRate& part);
  void visit(ByteCount& part);
  template <typename Part>
  void visit(std::optional<Part>& part) {
    if (!same(part.has_value())) return part.reset();
    if (reads()) part.emplace();
    visit(*part);
  }
  template <typename Part>
  void visit(std::unique_ptr<Part>& part) {
    owned(part, [] { return std::make_unique<Part>(); });
  }
  template <typename Part, std::size_t Count>
  void visit(std::array<Part, Count>& parts) {
    for (Part& part : parts) visit(part);
  }
  template <typename Part>
  void visit(std::vector<Part>& parts) {
    const std::size_t size = count(parts.size());
    if (reads()) parts.resize(size);
    for (Part& part : parts) visit(part);
  }
  // Writes `value` in `size` octets, or returns the number that it reads.
  std::uint64_t number(std::uint64_t value, std::size_t size);

  std::vector<std::byte>* to_;
  ConstBytes from_;
  Instant now_;
  bool failed_ = false;
};

}  // namespace satrelay
