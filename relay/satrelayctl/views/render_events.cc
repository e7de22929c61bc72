#include "relay/satrelayctl/views/render_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "relay/client/reply.h"
#include "relay/ops/events/event_words.h"
#include "relay/satrelayctl/commands/event_time.h"
#include "relay/text/numbers.h"

namespace satrelay::ctl {
namespace {

constexpr std::size_t kColumns = 80;

std::string front(std::string_view number, std::string_view time, std::string_view severity) {
  return fmt::format("{:>6}  {:<14}  {:<8}  ", number, time, severity);
}

// Returns "" if the field is missing.
std::string optional(const Json& event, const char* key) {
  return member(event, key).is_string() ? text(event, key) : "";
}

std::string words_of(const Json& event) {
  const std::string name = text(event, "name");
  const std::string subject = text(event, "subject");
  const std::string what = text(event, "text");
  const std::string detail = optional(event, "detail");
  const std::string advice = optional(event, "advice");
  const std::string user = optional(event, "user");
  const std::string before = optional(event, "old");
  const std::string after = optional(event, "new");
  const std::string check = optional(event, "check");
  return ops::to_line({.name = name,
                       .subject = subject,
                       .text = what,
                       .detail = detail,
                       .advice = advice,
                       .user = user,
                       .before = before,
                       .after = after,
                       .check = check});
}

// Returns how many characters of `text` fit into a line of `most` characters. Ends the line between
// words if at least one word fits.
std::size_t line_end(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  const std::size_t blank = text.rfind(' ', most);
  return blank == std::string_view::npos || blank == 0 ? most : blank;
}

}  // namespace

std::string event_titles() { return front("number", "time", "severity") + "event\n"; }

std::string render_event(const Json& event) {
  std::string line = front(shown(event, "number", text::plain), shown(event, "time_ms", moment),
                           text(event, "severity"));
  const std::size_t indent = line.size();
  const std::size_t room = std::max<std::size_t>(kColumns - std::min(kColumns, indent), 20);
  const std::string all = words_of(event);
  std::string out;
  for (std::string_view left = all; !left.empty();) {
    const std::size_t end = line_end(left, room);
    out += line.append(left.substr(0, end)) + '\n';
    left.remove_prefix(std::min(left.find_first_not_of(' ', end), left.size()));
    line.assign(indent, ' ');
  }
  return out;
}

std::string render_notice(const std::string& text) { return "-- " + text + " --\n"; }

}  // namespace satrelay::ctl
