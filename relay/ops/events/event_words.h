// Formats an event as one line for people.
#pragma once

#include <string>
#include <string_view>

namespace satrelay::ops {

struct EventWords {
  std::string_view name;
  std::string_view subject;
  std::string_view text;    // the change of state
  std::string_view detail;  // numbers that describe the change
  std::string_view advice;
  std::string_view user;
  std::string_view before;
  std::string_view after;
  std::string_view check;  // of a fault
};

// "SUBJECT: TEXT (DETAIL, from BEFORE to AFTER, by USER); ADVICE [NAME CHECK]", without the parts
// that are empty.
inline std::string to_line(const EventWords& words) {
  std::string figures(words.detail);
  const auto begin_figure = [&]() -> std::string& {
    return figures += figures.empty() ? "" : ", ";
  };
  if (!words.before.empty() || !words.after.empty()) {
    begin_figure().append("from ").append(words.before).append(" to ").append(words.after);
  }
  if (!words.user.empty()) begin_figure().append("by ").append(words.user);
  std::string line(words.subject);
  line.append(": ").append(words.text);
  if (!figures.empty()) line.append(" (").append(figures).append(")");
  if (!words.advice.empty()) line.append("; ").append(words.advice);
  line.append(" [").append(words.name);
  if (!words.check.empty()) line.append(" ").append(words.check);
  return line.append("]");
}

}  // namespace satrelay::ops
