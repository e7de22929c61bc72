#include "relay/satrelayctl/commands/event_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <ctime>

#include "config/text/units.h"

namespace satrelay::ctl {
namespace {

constexpr std::string_view kTime = "dd:dd:dd";
constexpr std::string_view kDate = "dddd-dd-dd";

std::tm local(std::uint64_t time_ms) {
  const auto seconds = static_cast<std::time_t>(time_ms / 1000);
  std::tm time{};
  ::localtime_r(&seconds, &time);
  return time;
}

// Whether `text` has a digit at each place where `form` has 'd', and the same characters elsewhere.
bool has_form(std::string_view text, std::string_view form) {
  return std::ranges::equal(text, form, [](char c, char wanted) {
    return wanted == 'd' ? c >= '0' && c <= '9' : c == wanted;
  });
}

int digits(std::string_view text, std::size_t at, std::size_t count) {
  int number = 0;
  std::from_chars(text.data() + at, text.data() + at + count, number);
  return number;
}

bool read_time(std::string_view text, std::tm& time) {
  if (!has_form(text, kTime) && !has_form(text, kTime.substr(0, 5))) return false;
  time.tm_hour = digits(text, 0, 2);
  time.tm_min = digits(text, 3, 2);
  time.tm_sec = text.size() > 5 ? digits(text, 6, 2) : 0;
  return time.tm_hour < 24 && time.tm_min < 60 && time.tm_sec < 60;
}

bool read_date(std::string_view text, std::tm& time) {
  if (!has_form(text, kDate)) return false;
  time.tm_year = digits(text, 0, 4) - 1900;
  time.tm_mon = digits(text, 5, 2) - 1;
  time.tm_mday = digits(text, 8, 2);
  return true;
}

// Returns nullopt for a day that does not exist, and for times before 1970.
std::optional<std::uint64_t> to_ms(std::tm time) {
  const std::tm wanted = time;
  time.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&time);
  if (seconds < 0 || time.tm_mon != wanted.tm_mon || time.tm_mday != wanted.tm_mday) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(seconds) * 1000;
}

}  // namespace

std::optional<std::uint64_t> parse_since(std::string_view text, std::uint64_t now_ms) {
  if (const auto ago = config::parse_duration(text)) {
    return now_ms - std::min(now_ms, static_cast<std::uint64_t>(ago->to_milliseconds()));
  }
  std::tm time = local(now_ms);
  if (read_time(text, time)) {
    auto today = to_ms(time);
    if (!today || *today <= now_ms) return today;
    --time.tm_mday;
    time.tm_isdst = -1;
    return static_cast<std::uint64_t>(std::mktime(&time)) * 1000;
  }
  const std::size_t size = kDate.size();
  if (!read_date(text.substr(0, size), time)) return std::nullopt;
  time.tm_hour = time.tm_min = time.tm_sec = 0;
  if (text.size() > size &&
      ((text[size] != ' ' && text[size] != 'T') || !read_time(text.substr(size + 1), time))) {
    return std::nullopt;
  }
  return to_ms(time);
}

std::string moment(std::uint64_t time_ms) {
  const std::tm time = local(time_ms);
  return fmt::format("{:02}-{:02} {:02}:{:02}:{:02}", time.tm_mon + 1, time.tm_mday, time.tm_hour,
                     time.tm_min, time.tm_sec);
}

}  // namespace satrelay::ctl
