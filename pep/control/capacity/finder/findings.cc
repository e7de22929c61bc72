#include "pep/control/capacity/finder/findings.h"

#include <algorithm>

namespace satrelay::control {

BitRate Findings::usual() const {
  std::array<BitRate, kUsual> rates{};
  const std::size_t count = std::min(count_, kUsual);
  for (std::size_t i = 0; i < count; ++i) rates[i] = last(i);
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(rates.begin(), middle, rates.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

BitRate Findings::most_of_last(std::size_t count) const {
  BitRate most;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, last(i));
  return most;
}

}  // namespace satrelay::control
