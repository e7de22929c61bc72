#include "config/link/trace_file.h"

#include <charconv>
#include <optional>
#include <sstream>
#include <string>

#include "config/text/error.h"
#include "config/text/text_file.h"
#include "config/text/units.h"

namespace satrelay::config {
namespace {

constexpr std::size_t kMostTraceBytes = std::size_t{64} << 20;

// The words of a line, and the place of the line for messages.
struct Line {
  const std::filesystem::path& file;
  std::size_t number;
  std::vector<std::string> words;

  [[noreturn]] void fail(const std::string& message) const {
    throw ConfigError(file.string() + ":" + std::to_string(number) + ": " + message);
  }
};

template <typename Function>
void for_each_line(const std::filesystem::path& file, Function&& function) {
  std::istringstream text(read_text_file(file, kMostTraceBytes));
  std::string raw;
  for (std::size_t number = 1; std::getline(text, raw); ++number) {
    std::istringstream words(raw.substr(0, raw.find('#')));
    Line line{file, number, {}};
    for (std::string word; words >> word;) line.words.push_back(word);
    if (!line.words.empty()) function(line);
  }
}

std::optional<std::uint64_t> parse_number(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

LossTrace read_loss_trace(const std::filesystem::path& file) {
  LossTrace trace;
  for_each_line(file, [&](const Line& line) {
    const bool is_period = line.words.size() == 2 && line.words[0] == "period";
    const auto number = parse_number(line.words.back());
    if (!number || (line.words.size() != 1 && !is_period)) {
      line.fail("is not a frame number; write a whole number, or period and one");
    }
    if (is_period) {
      if (*number == 0 || trace.period != 0) line.fail("write one period, of at least one frame");
      trace.period = *number;
      return;
    }
    if (!trace.lost.empty() && *number <= trace.lost.back()) {
      line.fail("is not above the number before it; write them in ascending order");
    }
    trace.lost.push_back(*number);
  });
  if (trace.period != 0 && !trace.lost.empty() && trace.lost.back() >= trace.period) {
    throw ConfigError(file.string() + ": frame " + std::to_string(trace.lost.back()) +
                      " lies beyond the period of " + std::to_string(trace.period) +
                      "; write a longer period");
  }
  return trace;
}

std::vector<DelayStep> read_delay_trace(const std::filesystem::path& file) {
  std::vector<DelayStep> steps;
  for_each_line(file, [&](const Line& line) {
    if (line.words.size() != 2) line.fail("is not a step; write a time and a delay, like 15s 30ms");
    const auto at = parse_duration(line.words[0]);
    const auto delay = parse_duration(line.words[1]);
    if (!at || !delay) {
      line.fail("\"" + line.words[at ? 1 : 0] + "\" is not a time; " + std::string(kDurationHint));
    }
    if (*delay > Duration::seconds(10)) line.fail("is a delay above 10s; write a shorter one");
    if (!steps.empty() && *at <= steps.back().at) {
      line.fail("is not later than the step before it; write them in ascending order");
    }
    steps.push_back({*at, *delay});
  });
  if (steps.empty()) {
    throw ConfigError(file.string() + ": has no step; write lines like 15s 30ms");
  }
  return steps;
}

}  // namespace satrelay::config
