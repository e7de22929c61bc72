// Reads the configuration again while the gateway runs, on a thread that is not a worker's. The new
// configuration is applied as a whole, or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/checks/changes.h"
#include "config/model/schema.h"
#include "relay/doctor/taken_over.h"
#include "relay/gateway/gateway.h"
#include "relay/satrelayd/reporting/reload_event.h"

namespace satrelay::satrelayd {

class Reload {
 public:
  using Running = std::shared_ptr<const ctl::doctor::TakenOver>;

  // `started` is the configuration with which the gateway was started, read from `file`. The
  // reading thread first calls `settle`, to move itself away from the CPU of the worker that
  // started it.
  Reload(
      std::filesystem::path file, const config::Gateway& started,
      std::function<void()> settle = [] {})
      : file_(std::move(file)),
        settle_(std::move(settle)),
        started_(started),
        running_(std::make_shared<const config::Changeable>(started)) {
    // Keep neither classes nor keys, since a reload may change both. The compression dictionaries
    // of the classes also need much memory.
    started_.classes.clear();
    for (config::Peer& peer : started_.peers) peer.security.forget_keys();
  }

  // Begins to read the file. If a reading is already under way, reads the file once more
  // afterwards, since the file may have changed since the first reading began.
  void begin();
  bool is_reading() const { return reading_.valid() || again_; }

  struct Outcome {
    std::optional<config::Gateway> configuration;  // the configuration to apply
    // Data that reconfigure() needs, made from `configuration`.
    gateway::Prepared prepared;
    std::vector<config::ChangedKey> changes;  // the differences from the running configuration
    std::string error;                  // if there is no configuration, the reason in one line
    std::vector<std::string> mistakes;  // if the reason is several mistakes: a line for each
    ReloadRefusal refusal = ReloadRefusal::kMistake;       // the kind of reason
    std::shared_ptr<const config::Changeable> changeable;  // the changeable part of `configuration`
    Running taken_over;  // `configuration` for the search for faults
  };
  // Returns the outcome of each reading once. Call this often: it also begins a second reading if
  // one was requested.
  std::optional<Outcome> poll();
  // Call this once the outcome has been applied.
  void took_over(const Outcome& outcome) { running_ = outcome.changeable; }

 private:
  std::filesystem::path file_;
  std::function<void()> settle_;
  config::Gateway started_;
  std::shared_ptr<const config::Changeable> running_;
  std::future<Outcome> reading_;
  bool again_ = false;
};

// Reads the file, and compares it with the configuration at the start and with the running
// configuration. Runs on the thread of Reload.
Reload::Outcome read_changes(const std::filesystem::path& file, const config::Gateway& started,
                             const std::shared_ptr<const config::Changeable>& running);

}  // namespace satrelay::satrelayd
