// The content of one direction of a flow, as a function of the position. With it, a receiver can
// detect a lost, repeated, moved or foreign byte without a copy of the content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"

namespace satrelay::sim {

enum class Content : std::uint8_t {
  kRandom,   // incompressible
  kText,     // compresses well
  kMixed,    // stretches of 100,000 random bytes and of 100,000 bytes of text in turn
  kAnswers,  // responses of one web service, 256 bytes each, that differ only in some digits
};

class Pattern {
 public:
  Pattern() = default;
  Pattern(std::uint64_t seed, Content content) : seed_(seed), content_(content) {}

  void fill(std::uint64_t offset, MutableBytes out) const;
  // Returns the offset of the first byte that differs from the pattern, or nullopt if no byte
  // differs.
  std::optional<std::uint64_t> first_difference(std::uint64_t offset, ConstBytes bytes) const;

 private:
  void fill_random(std::uint64_t offset, MutableBytes out) const;
  void fill_text(std::uint64_t offset, MutableBytes out) const;
  void fill_answers(std::uint64_t offset, MutableBytes out) const;
  std::uint64_t text_word(std::uint64_t index) const;  // returns a word of eight bytes of text
  std::uint64_t seed_ = 0;
  Content content_ = Content::kRandom;
};

}  // namespace satrelay::sim
