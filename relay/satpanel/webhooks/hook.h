// Reads the file of `satpanel --webhook`, which lists the receivers of events, and the events that
// each receiver gets.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "relay/ops/events/severity.h"

namespace satrelay::panel {

struct Hook {
  std::string name = {};  // for the log and the metrics, since a URL may contain a secret
  std::string url = {};   // http or https
  // PEM of the authority for the receiver's certificate; "": the machine's.
  std::string ca_file = {};
  std::string secret = {};
  ops::Severity severity = ops::Severity::kWarning;  // send events of this severity and worse ones
  std::vector<std::string> events = {};              // names of the events to send; empty: all
};

inline constexpr std::size_t kMostHooks = 20;

// Throws std::runtime_error that says the file, the line and what is wrong.
std::vector<Hook> load_hooks(const std::filesystem::path& file);

// Whether this event, as the gateway reports it, must be sent to the hook.
bool wants(const Hook& hook, const nlohmann::ordered_json& event);

}  // namespace satrelay::panel
