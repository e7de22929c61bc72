#include "relay/satpanel/http/event_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace satrelay::panel {
namespace {

constexpr std::size_t kEventsAWrite = 50;

}  // namespace

EventStream::EventStream(const Observer& observer, std::uint64_t from,
                         std::function<bool()> may_stay, std::chrono::nanoseconds longest)
    : observer_(observer),
      next_(from == 0 ? observer.events(0, 0).next : from),
      may_stay_(std::move(may_stay)),
      end_(std::chrono::steady_clock::now() + longest),
      unsent_("retry: 3000\n\n") {}

std::optional<std::string> EventStream::poll(std::size_t most) {
  if (unsent_.empty()) {
    if (!may_stay_() || std::chrono::steady_clock::now() > end_) return std::nullopt;
    const Observer::EventPage page = observer_.events(next_, kEventsAWrite);
    if (page.has_missed) unsent_ += "event: missed\ndata: {}\n\n";
    std::uint64_t position = page.next - page.events.size();
    for (const Json& event : page.events) {
      // Dumped JSON has no line feeds, so each event is one line.
      unsent_ += fmt::format("id: {}\nevent: event\ndata: {}\n\n", ++position,
                             event.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    next_ = page.next;
  }
  std::string part = unsent_.substr(0, most);
  unsent_.erase(0, part.size());
  return part;
}

}  // namespace satrelay::panel
