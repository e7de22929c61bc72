// Splits a line of a control socket into words.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace satrelay::ops {

// Words are separated by spaces or tabs. The line may contain any bytes.
template <std::size_t Most>
class ControlWords {
 public:
  explicit ControlWords(std::string_view line) {
    constexpr std::string_view kBlank = " \t\r";
    for (std::size_t begin = line.find_first_not_of(kBlank); begin != std::string_view::npos;
         begin = line.find_first_not_of(kBlank, begin)) {
      const std::size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
      if (count_ < Most) words_[count_] = line.substr(begin, end - begin);
      if (++count_ > Most) return;
      begin = end;
    }
  }
  // The number of words in the line, or Most + 1 if there are more than Most.
  std::size_t count() const { return count_; }
  bool too_many() const { return count_ > Most; }
  std::string_view operator[](std::size_t index) const { return words_[index]; }

 private:
  std::array<std::string_view, Most> words_;
  std::size_t count_ = 0;
};

}  // namespace satrelay::ops
