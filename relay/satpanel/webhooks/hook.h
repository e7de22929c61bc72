// Where events are sent to, and which ones: the file of `satpanel --webhook`.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "relay/ops/events/severity.h"

namespace satrelay::panel {

struct Hook {
  std::string name = {};     // in the log and in metrics: what a URL has in it may be a secret
  std::string url = {};      // of http or https
  std::string ca_file = {};  // PEM of who signs its certificate; "": whom the machine trusts
  std::string secret = {};
  ops::Severity severity = ops::Severity::kWarning;  // this one and what is worse
  std::vector<std::string> events = {};              // names; empty: all
};

inline constexpr std::size_t kMostHooks = 20;

// Throws std::runtime_error that names the file, the line and what is wrong.
std::vector<Hook> load_hooks(const std::filesystem::path& file);

// Whether this event, as the gateway tells it, is to be sent there.
bool wants(const Hook& hook, const nlohmann::ordered_json& event);

}  // namespace satrelay::panel
