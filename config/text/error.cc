#include "config/text/error.h"

#include <algorithm>
#include <utility>

namespace satrelay::config {
namespace {

std::string in_one_line(const std::vector<Mistake>& mistakes) {
  if (mistakes.empty()) return "";
  const std::size_t others = mistakes.size() - 1;
  if (others == 0) return mistakes.front().text;
  return mistakes.front().text + " (and " + std::to_string(others) +
         (others == 1 ? " more mistake)" : " more mistakes)");
}

}  // namespace

ConfigError::ConfigError(std::vector<Mistake> mistakes)
    : std::runtime_error(in_one_line(mistakes)),
      mistakes_(std::make_shared<const std::vector<Mistake>>(std::move(mistakes))) {}

std::vector<std::string> lines_of(const ConfigError& error) {
  const std::vector<Mistake>& mistakes = error.mistakes();
  const std::size_t told = std::min(mistakes.size(), kMostToldMistakes);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < told; ++i) lines.push_back(mistakes[i].text);
  if (mistakes.size() > told) {
    lines.push_back("and " + std::to_string(mistakes.size() - told) + " more");
  }
  if (mistakes.size() > 1) {
    lines.push_back(std::to_string(mistakes.size()) + " mistakes" +
                    (mistakes.size() < kMostMistakes ? "" : "; the program looked no further"));
  }
  return lines;
}

}  // namespace satrelay::config
