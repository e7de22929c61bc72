// Classes of traffic by their number, and sets of them. The user decides what a number means.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace satrelay::schedule {

using ClassId = std::uint8_t;  // below kClasses
inline constexpr std::size_t kClasses = 32;

using ClassSet = std::uint32_t;  // bit n: class n
inline constexpr ClassSet kEveryClass = ~ClassSet{0};
constexpr ClassSet class_bit(ClassId id) { return ClassSet{1} << id; }
// Not for an empty set.
constexpr ClassId lowest_class(ClassSet set) { return static_cast<ClassId>(std::countr_zero(set)); }

}  // namespace satrelay::schedule
