// Describes the changes of a reload, for its event and for the log. Advises on a refused reload.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

// Why the gateway did not apply a configuration.
enum class ReloadRefusal : std::uint8_t {
  kMistake,       // the configuration, or a file that it names, is wrong
  kFileRights,    // the gateway's user may not read a file, or others may read a secret
  kNoFile,        // a file cannot be read for another reason
  kNeedsRestart,  // keys have changed that only a restart can change
  kNoMemory,
  kWorkerStuck,
};

// Returns the cure for the event. "" stands for the advice that the event has anyway.
std::string_view advice_for(ReloadRefusal refusal);

}  // namespace satrelay::satrelayd
