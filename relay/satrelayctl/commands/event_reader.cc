#include "relay/satrelayctl/commands/event_reader.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace satrelay::ctl {
namespace {}  // namespace

EventReader::Numbers EventReader::numbers(StatsClient& client) const {
  const Json reply = client.query("/satrelay/event_numbers");
  std::string boot_epoch = identifier(reply, "boot_epoch");
  const auto oldest = number(reply, "oldest");
  const auto latest = number(reply, "latest");
  if (boot_epoch.empty() || !oldest || !latest) {
    throw StatsError(socket_.string() +
                     " reports its events in a form that this satrelayctl cannot read");
  }
  return {std::move(boot_epoch), *oldest, *latest};
}

void EventReader::read_kept(std::optional<std::uint64_t> most) {
  StatsClient client(socket_, StatsClient::kUsualTimeout);
  const Numbers kept = numbers(client);
  boot_epoch_ = kept.boot_epoch;
  next_ = kept.oldest;
  if (most) next_ = std::max(next_, kept.latest + 1 - std::min(kept.latest, *most));
  read(client, kept);
}

void EventReader::read_new() {
  try {
    follow_up();
  } catch (const StatsError& error) {
    if (!std::exchange(is_gone_, true)) sink_.notice(std::string(error.what()) + "; trying again");
  }
}

// Makes a new connection each time: DPDK's socket serves only ten connections at once, and other
// clients need some of them. A connection does not outlive the gateway, so the numbers and the
// events come from the same run of the gateway.
void EventReader::follow_up() {
  StatsClient client(socket_, StatsClient::kUsualTimeout);
  const Numbers kept = numbers(client);
  const bool was_gone = std::exchange(is_gone_, false);
  if (kept.boot_epoch != boot_epoch_) {
    boot_epoch_ = kept.boot_epoch;
    next_ = 1;
    sink_.notice("the gateway restarted; its events begin with 1 again");
  } else if (was_gone) {
    sink_.notice("the gateway answers again");
  }
  read(client, kept);
}

// Reads only up to `kept.latest`, the latest event when the gateway was asked. Otherwise a gateway
// that has new events all the time could keep this loop busy for ever.
void EventReader::read(StatsClient& client, const Numbers& kept) {
  while (next_ <= kept.latest) {
    const Json page = client.query("/satrelay/events," + std::to_string(next_) + ",1000");
    if (!page.is_object() || page.empty()) return;
    for (Json event : page) {
      const auto its_number = number(event, "number");
      if (!its_number || *its_number < next_) {
        throw StatsError(socket_.string() + " does not number its events in order");
      }
      if (*its_number > next_) {
        sink_.notice(std::to_string(*its_number - next_) +
                     " events were dropped before they could be read");
      }
      next_ = *its_number + 1;
      event["boot_epoch"] = boot_epoch_;
      sink_.event(event);
    }
  }
}

}  // namespace satrelay::ctl
