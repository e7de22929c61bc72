// The image of an object: its state as octets, without pointers, from which another object of the
// same class is made later, perhaps in another process. An image is read by the build that wrote
// it, so it names no members: both directions visit the same members in the same order.
//
// A class that has an image says so once, for both directions:
//
//   void image(Image& image) { image(begin_, sent_, deadline_); }
//
// An object that is read was built before, with the arguments that its image leaves out: arenas,
// shared settings, counters. Instants are relative to now, so that the epochs of two processes may
// differ. Stored bytes stay in their arena: an image holds the numbers of their blocks, and the
// object that was written is left without them.
//
// Integers are little-endian. `tests/tidy/images.py` compares the members of each class with those
// that its image() names.
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
  // Writes behind what `to` holds. `to` outlives the image.
  static Image writer(std::vector<std::byte>& to, Instant now) { return {&to, {}, now}; }
  // Reads from `from`, which outlives the image.
  static Image reader(ConstBytes from, Instant now) { return {nullptr, from, now}; }

  bool reads() const { return to_ == nullptr; }
  Instant now() const { return now_; }
  // For a reader: the octets end too early, or contradict themselves. All that is read from then on
  // is zero. The objects that were read are good for nothing but to be destroyed.
  bool failed() const { return failed_; }
  void fail() {
    failed_ = true;
    from_ = {};
  }
  // For a reader: whether all octets were read, and none was missing.
  bool complete() const { return !failed_ && from_.empty(); }

  // Writes all of `parts`, or replaces them by those that are read.
  template <typename... Parts>
  void operator()(Parts&... parts) {
    (visit(parts), ...);
  }
  // The same for a bit-field: returns the value that it has from now on.
  template <typename Value>
  [[nodiscard]] Value same(Value value) {
    visit(value);
    return value;
  }
  // The same for an object that may be absent. `make` returns an object to read into.
  template <typename Part, typename Make>
  void owned(std::unique_ptr<Part>& part, Make&& make) {
    if (!same(part != nullptr)) return part.reset();
    if (reads()) part = make();
    visit(*part);
  }
  // How many elements follow, of at least one octet each. A reader fails if so many cannot follow.
  [[nodiscard]] std::size_t count(std::size_t elements) {
    const auto number = same(static_cast<std::uint64_t>(elements));
    if (!reads() || number <= from_.size()) return static_cast<std::size_t>(number);
    fail();
    return 0;
  }
  // Octets that have no other meaning.
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
  // Writes the number in `size` octets, or returns the number that is read.
  std::uint64_t number(std::uint64_t value, std::size_t size);

  std::vector<std::byte>* to_;
  ConstBytes from_;
  Instant now_;
  bool failed_ = false;
};

}  // namespace satrelay
