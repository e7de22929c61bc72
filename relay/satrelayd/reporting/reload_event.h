// Describes the changes of a reload, for its event and for the log.
#pragma once

#include <string>
#include <vector>

#include "config/checks/changes.h"
#include "relay/ops/events/event.h"

namespace satrelay::satrelayd {

struct ReloadTold {
  std::string detail;  // text that lists the changed keys
  std::string before, after;
  // For the log: a line for each of the first hundred changes, and a line with the number of
  // further changes. Empty if the texts above have room for all changes.
  std::vector<std::string> lines;
};

// None of the event's texts is longer than ops::kMostEventText. A text that was cut ends with "..."
// or with the number of changes that were left out.
ReloadTold told_of(const std::vector<config::ChangedKey>& changes);

}  // namespace satrelay::satrelayd
