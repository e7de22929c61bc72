// Reads the file of `satpanel --webhook`. It lists the receivers of events, and the events to send
// to each receiver.
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
  // File in PEM with the authority that signs the receiver's certificate. "" means the machine's
  // authorities.
  std::string ca_file = {};
  std::string secret = {};
  ops::Severity severity = ops::Severity::kWarning;  // lowest severity of the events to send
  std::vector<std::string> events = {};  // names of the events to send; if empty, all are sent
};

inline constexpr std::size_t kMostHooks = 20;

// Throws std::runtime_error with the file, the line and the reason.
std::vector<Hook> load_hooks(const std::filesystem::path& file);

// Whether this event, as the gateway reports it, must be sent to the receiver.
bool wants(const Hook& hook, const nlohmann::ordered_json& event);

}  // namespace satrelay::panel
