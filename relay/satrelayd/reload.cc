#include "relay/satrelayd/reload.h"

#include <chrono>
#include <exception>

#include "config/changes.h"
#include "config/loader.h"

namespace satrelay::satrelayd {

Reload::Outcome read_changes(const std::filesystem::path& file, const config::Gateway& started) {
  try {
    config::Gateway next = config::load_gateway(file);
    std::string keys;
    for (const std::string& key : config::needs_restart(started, next)) {
      keys += (keys.empty() ? "" : ", ") + key;
    }
    if (!keys.empty()) {
      return {.configuration = std::nullopt, .prepared = {}, .error = "needs a restart: " + keys};
    }
    auto prepared = gateway::Gateway::prepare(next);
    return {.configuration = std::move(next), .prepared = std::move(prepared), .error = ""};
  } catch (const std::exception& error) {
    return {.configuration = std::nullopt, .prepared = {}, .error = error.what()};
  }
}

void Reload::begin() {
  if (reading_.valid()) return;
  reading_ = std::async(std::launch::async, read_changes, file_, started_);
}

std::optional<Reload::Outcome> Reload::poll() {
  if (!reading_.valid() ||
      reading_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return std::nullopt;
  }
  return reading_.get();
}

}  // namespace satrelay::satrelayd
