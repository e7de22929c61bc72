// The changes of a reload, as an event and for the log.
#pragma once

#include <string>
#include <vector>

#include "config/checks/changes.h"
#include "relay/ops/events/event.h"

namespace satrelay::satrelayd {

struct ReloadTold {
  std::string detail;  // the changed keys
  std::string before, after;
  // For the log: a line for each of up to a hundred changes, and one with the number of the others.
  // Empty if the texts above have room for all changes.
  std::vector<std::string> lines;
};

// No text is longer than an event allows. A text that is cut shows it.
ReloadTold told_of(const std::vector<config::ChangedKey>& changes);

}  // namespace satrelay::satrelayd
