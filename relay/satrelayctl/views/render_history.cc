#include "relay/satrelayctl/views/render_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "relay/satrelayctl/commands/event_time.h"
#include "relay/text/numbers.h"
#include "relay/text/table.h"

namespace satrelay::ctl {
namespace {

struct Figure {
  const char* title;
  const char* key;
  Scale scale;
};
constexpr std::array<Figure, 7> kFigures = {{
    {"sent", "send_bps", bits_per_second},
    {"received", "receive_bps", bits_per_second},
    {"loss", "loss_ppm", text::share},
    {"round trip", "rtt_us", text::duration},
    {"queue", "queued_bytes", text::binary_bytes},
    {"wait for link", "wait_us", text::duration},
    {"became", "encoded_ppm", text::share},
}};

constexpr std::size_t kNumbers = 14 + 3 * 13 + 2;  // number of characters before the graph
constexpr std::size_t kFewestMarks = 10;
constexpr std::size_t kMostMarks = 60;

constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAscii = {"_", ".", ":", "-", "=", "+", "*", "#"};

using Values = std::vector<std::optional<double>>;

Values values_of(const Json& points, const char* key) {
  Values values;
  for (const Json& point : points) {
    const auto value = number(point, key);
    values.push_back(value ? std::optional(static_cast<double>(*value)) : std::nullopt);
  }
  return values;
}

std::optional<double> mean(Values::const_iterator begin, Values::const_iterator end) {
  double sum = 0;
  std::size_t known = 0;
  for (; begin != end; ++begin) {
    if (!*begin) continue;
    sum += **begin;
    ++known;
  }
  return known == 0 ? std::nullopt : std::optional(sum / static_cast<double>(known));
}

// Returns the means of groups of `each` consecutive values. The last group may be smaller.
Values summed_up(const Values& values, std::size_t each) {
  Values means;
  for (std::size_t i = 0; i < values.size(); i += each) {
    const auto at = [&](std::size_t place) {
      return values.begin() + static_cast<std::ptrdiff_t>(std::min(place, values.size()));
    };
    means.push_back(mean(at(i), at(i + each)));
  }
  return means;
}

// Draws a text graph with one character for each value, on a scale from 0 to the largest value. A
// blank means that the value is not known.
std::string line_of(const Values& values, Marks marks) {
  double most = 0;
  for (const auto& value : values) most = std::max(most, value.value_or(0));
  const auto& steps = marks == Marks::kBlocks ? kBlocks : kAscii;
  std::string line;
  for (const auto& value : values) {
    if (!value) {
      line += ' ';
      continue;
    }
    const double share = most > 0 ? *value / most : 0;
    const auto step =
        static_cast<std::size_t>(std::lround(share * static_cast<double>(steps.size() - 1)));
    line += steps[std::min(step, steps.size() - 1)];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string figure_line(const Figure& figure, const Values& values, std::size_t each, Marks marks) {
  std::optional<double> least;
  std::optional<double> most;
  for (const auto& value : values) {
    if (!value) continue;
    least = std::min(least.value_or(*value), *value);
    most = std::max(most.value_or(*value), *value);
  }
  if (!least) return "";
  const auto shown = [&](double value) {
    return figure.scale(static_cast<std::uint64_t>(std::llround(value)));
  };
  return fmt::format("{:<14}{:>13}{:>13}{:>13}  {}\n", figure.title, shown(*least),
                     shown(*mean(values.begin(), values.end())), shown(*most),
                     line_of(summed_up(values, each), marks));
}

// Returns the most frequent interval between consecutive points.
std::uint64_t step_ms(const Json& points) {
  std::map<std::uint64_t, std::size_t> distances;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const std::uint64_t before = number(points[i - 1], "time_ms").value_or(0);
    const std::uint64_t now = number(points[i], "time_ms").value_or(0);
    if (now > before) ++distances[(now - before + 500) / 1000 * 1000];
  }
  const auto usual =
      std::ranges::max_element(distances, {}, [](const auto& distance) { return distance.second; });
  return usual == distances.end() ? 0 : usual->first;
}

}  // namespace

Marks marks_of(std::string_view locale) {
  std::string lower;
  for (const char c : locale) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const bool is_utf8 =
      lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  return is_utf8 ? Marks::kBlocks : Marks::kAscii;
}

Json history_in_order(const Json& points, std::uint64_t since_ms) {
  std::map<std::uint64_t, Json> by_time;
  for (const Json& point : points) {
    const auto time = number(point, "time_ms");
    if (time && *time >= since_ms) by_time.emplace(*time, point);
  }
  Json ordered = Json::array();
  for (auto& [time, point] : by_time) ordered.push_back(std::move(point));
  return ordered;
}

std::string render_history(const Json& points, const HistoryLook& look) {
  if (points.empty()) return look.subject + ": there is no history, or not yet.\n";
  const std::size_t room = look.width > kNumbers ? look.width - kNumbers : 0;
  const std::size_t marks = std::clamp(room, kFewestMarks, kMostMarks);
  const std::size_t each = (points.size() + marks - 1) / marks;
  std::string title =
      fmt::format("{}, {} to {}", look.subject, shown(points.front(), "time_ms", moment),
                  shown(points.back(), "time_ms", moment));
  if (const std::uint64_t step = step_ms(points); step > 0) {
    title += fmt::format(", a mark is {}", text::duration(step * each * 1000));
  }
  std::string out;
  for (const std::string& line : text::fold(title, look.width)) out += line + '\n';
  out += fmt::format("\n{:<14}{:>13}{:>13}{:>13}\n", "", "least", "mean", "most");
  for (const Figure& figure : kFigures) {
    out += figure_line(figure, values_of(points, figure.key), each, look.marks);
  }
  return out;
}

}  // namespace satrelay::ctl
