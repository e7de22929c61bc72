// Numbers of traffic classes, and sets of these numbers. The users of this file decide which
// traffic belongs to which number.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace satrelay::schedule {

using ClassId = std::uint8_t;  // number of a class, below kClasses
inline constexpr std::size_t kClasses = 32;

using ClassSet = std::uint32_t;  // bit n is set if the set contains class n
inline constexpr ClassSet kEveryClass = ~ClassSet{0};
constexpr ClassSet class_bit(ClassId id) { return ClassSet{1} << id; }
// The set must not be empty.
constexpr ClassId lowest_class(ClassSet set) { return static_cast<ClassId>(std::countr_zero(set)); }

}  // namespace satrelay::schedule
