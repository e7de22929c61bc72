#include "relay/satrelayctl/commands/events.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <iostream>
#include <nlohmann/json.hpp>

#include "relay/ops/events/severity.h"
#include "relay/satrelayctl/commands/event_reader.h"
#include "relay/satrelayctl/commands/event_time.h"
#include "relay/satrelayctl/commands/interruption.h"
#include "relay/satrelayctl/views/render_events.h"

namespace satrelay::ctl {
namespace {

constexpr std::chrono::milliseconds kReadEvery(500);
constexpr std::uint64_t kLast = 50;

std::uint64_t now_ms() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

// Replaces invalid UTF-8, since texts like host names come from the network.
std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

// Decides which events are wanted.
class Wanted {
 public:
  explicit Wanted(const EventOptions& options) {
    if (!options.since.empty()) {
      since_ = parse_since(options.since, now_ms());
      if (!since_) throw StatsError("--since: " + std::string(kSinceHint));
    }
    const auto found = std::ranges::find(ops::kSeverityWords, options.severity);
    worst_ = static_cast<std::size_t>(found - ops::kSeverityWords.begin());
  }
  bool all() const { return !since_ && worst_ + 1 >= ops::kSeverityWords.size(); }
  bool since() const { return since_.has_value(); }
  bool is(const Json& event) const {
    if (since_ && number(event, "time_ms").value_or(0) < *since_) return false;
    const auto severity = std::ranges::find(ops::kSeverityWords, text(event, "severity"));
    // Also show an event with an unknown severity: it comes from another version of the gateway.
    return severity == ops::kSeverityWords.end() ||
           static_cast<std::size_t>(severity - ops::kSeverityWords.begin()) <= worst_;
  }

 private:
  std::optional<std::uint64_t> since_;
  std::size_t worst_;
};

class Output {
 public:
  explicit Output(const EventOptions& options)
      : json_(options.json), lines_(options.json && options.follow) {}

  // Shows the kept events, newest last.
  void show(const std::deque<Json>& events) {
    if (json_ && !lines_) {
      std::cout << json_text(Json(std::vector<Json>(events.begin(), events.end())), 2);
    } else {
      if (!json_) std::cout << event_titles();
      for (const Json& event : events) show(event);
    }
    std::cout << std::flush;
  }
  void show(const Json& event) {
    std::cout << (json_ ? json_text(event, -1) : render_event(event)) << std::flush;
  }
  // With --json, notices go to stderr, so that the output contains only events. A program that
  // reads the JSON can find missed events and restarts by the numbers and boot epochs.
  void notice(const std::string& text) const {
    (json_ ? std::cerr : std::cout) << render_notice(text) << std::flush;
  }

 private:
  bool json_;
  bool lines_;  // one event a line
};

}  // namespace

int events(const std::filesystem::path& stats_socket, const EventOptions& options) {
  const Wanted wanted(options);
  std::optional<std::uint64_t> last = options.last;
  if (!last && !wanted.since()) last = kLast;
  Output output(options);
  std::deque<Json> kept;
  bool is_new = false;
  EventReader reader(stats_socket, {.event =
                                        [&](const Json& event) {
                                          if (!wanted.is(event)) return;
                                          if (is_new) return output.show(event);
                                          kept.push_back(event);
                                          if (last && kept.size() > *last) kept.pop_front();
                                        },
                                    .notice =
                                        [&](const std::string& text) {
                                          if (is_new) output.notice(text);
                                        }});
  reader.read_kept(wanted.all() ? last : std::nullopt);
  output.show(kept);
  if (options.follow) {
    is_new = true;
    heed_interruptions();
    while (std::cout && waits(kReadEvery)) reader.read_new();
  }
  return std::cout ? 0 : 1;
}

}  // namespace satrelay::ctl
