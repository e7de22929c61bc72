// What a reload has changed, as an event and for the log.
#pragma once

#include <string>
#include <vector>

#include "config/checks/changes.h"
#include "relay/ops/events/event.h"

namespace satrelay::satrelayd {

struct ReloadTold {
  std::string detail;  // the keys
  std::string before, after;
  // Of the log, a change each, up to a hundred and how many more there are: not all of them have
  // found room in the texts above.
  std::vector<std::string> lines;
};

// No text is longer than an event may have it; what is cut says so.
ReloadTold told_of(const std::vector<config::ChangedKey>& changes);

}  // namespace satrelay::satrelayd
