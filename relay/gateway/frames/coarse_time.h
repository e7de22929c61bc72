// Instants for tables with entries of one word: whole numbers from 1 on, so that 0 can mean an
// empty entry.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"

namespace satrelay::gateway {

constexpr std::uint32_t second_of(Instant now) {
  return static_cast<std::uint32_t>((now - Instant()) / Duration::seconds(1)) + 1;
}

// 16 bits are enough for seven years.
constexpr std::uint32_t hour_of(Instant now) {
  return static_cast<std::uint32_t>((now - Instant()) / Duration::seconds(3600) % 0xffff) + 1;
}

// Whether less than `age` has passed since `second`. `second` may be slightly in the future, as the
// clock of another worker may be ahead.
constexpr bool is_within(std::optional<std::uint32_t> second, Duration age, Instant now) {
  return second.value_or(0) != 0 &&
         std::int64_t{second_of(now)} - *second < age / Duration::seconds(1);
}

}  // namespace satrelay::gateway
