// A gateway for tests of the panel: its stats socket, with the values that a test sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "relay/satpanel/wall_clock.h"
#include "tests/unit/relay/client/fake_telemetry.h"

namespace satrelay::panel {

class FakeGateway {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr std::uint64_t kEventsAPage = 40;  // as many as surely fit into a reply

  explicit FakeGateway(const std::filesystem::path& socket)
      : server_(socket, ctl::kGreeting,
                [this](const std::string& asked) { return answer(asked); }) {}

  // Sets the reply to a command, named without its parameters. A listing is an array.
  void set(const std::string& command, Json value) {
    const std::lock_guard lock(mutex_);
    values_[command] = std::move(value);
  }
  // Adds `count` events, numbered on from the last one.
  void tell(const std::string& name, std::uint64_t count = 1, const std::string& text = "",
            const std::string& severity = "info") {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t i = 0; i < count; ++i) {
      events_.push_back({{"number", events_.size() + 1},
                         {"time_ms", wall_clock_ms()},
                         {"name", name},
                         {"severity", severity},
                         {"subject", "gateway"},
                         {"text", text}});
    }
  }
  // The gateway answers nothing while the lock is held.
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }
  // Restarts the gateway: another boot epoch, and no events.
  void start_anew() {
    const std::lock_guard lock(mutex_);
    ++boot_epoch_;
    events_ = Json::array();
  }

 private:
  std::string answer(const std::string& asked) {
    const std::lock_guard lock(mutex_);
    // The last two parameters of a listing: the first entry, and the count.
    std::istringstream words(asked);
    std::string command;
    std::getline(words, command, ',');
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    for (std::string word; std::getline(words, word, ',');) {
      first = std::exchange(count, std::strtoull(word.c_str(), nullptr, 10));
    }
    if (command == "/satrelay/event_numbers") {
      return Json{
          {command, {{"boot_epoch", boot_epoch_}, {"oldest", 1U}, {"latest", events_.size()}}}}
          .dump();
    }
    if (command == "/satrelay/events") {
      const std::uint64_t behind = first + std::min(count, kEventsAPage) - 1;
      return page(command, events_, first - 1, behind);
    }
    const Json& value = values_[command];
    if (value.is_array()) return page(command, value, first, first + count);
    return Json{{command, value.is_null() ? Json::object() : value}}.dump();
  }
  static std::string page(const std::string& command, const Json& all, std::uint64_t first,
                          std::uint64_t behind) {
    Json entries = Json::object();
    for (std::uint64_t i = first; i < std::min<std::uint64_t>(behind, all.size()); ++i) {
      entries[std::to_string(i)] = all[i];
    }
    return Json{{command, std::move(entries)}}.dump();
  }

  std::mutex mutex_;
  std::uint64_t boot_epoch_ = 1;
  Json events_ = Json::array();
  Json values_ = Json::object();
  ctl::FakeTelemetry server_;
};

}  // namespace satrelay::panel
