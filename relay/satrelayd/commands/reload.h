// Reads the configuration again while the gateway runs, on a thread that is not a worker's. The new
// configuration comes into force as a whole, or not at all.
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
#include "relay/gateway/gateway.h"

namespace satrelay::satrelayd {

class Reload {
 public:
  // `started`: the configuration that the gateway was started with, from `file`. `settle`: called
  // first on the reading thread, to move it to another CPU than that of the worker that has started
  // it.
  Reload(
      std::filesystem::path file, const config::Gateway& started,
      std::function<void()> settle = [] {})
      : file_(std::move(file)),
        settle_(std::move(settle)),
        started_(started),
        running_(std::make_shared<const config::Changeable>(started)) {
    // Do not keep classes and keys: they may change in a reload, and dictionaries take much memory.
    started_.classes.clear();
    for (config::Peer& peer : started_.peers) peer.security.forget_keys();
  }

  // Begins to read the file. If a reading is under way, the file is read once more afterwards,
  // since it may have changed.
  void begin();
  bool is_reading() const { return reading_.valid() || again_; }

  struct Outcome {
    std::optional<config::Gateway> configuration;  // to be put into force
    gateway::Prepared prepared;                    // prepared from `configuration`
    std::vector<config::ChangedKey> changes;       // compared with the running configuration
    std::string error;                             // if there is no configuration: why
    std::shared_ptr<const config::Changeable> changeable;  // the changeable part of `configuration`
  };
  // Returns the outcome of each reading once. Call this often, since it also begins a second
  // reading if one was requested.
  std::optional<Outcome> poll();
  // Call this once the outcome is in force.
  void took_over(const Outcome& outcome) { running_ = outcome.changeable; }

 private:
  std::filesystem::path file_;
  std::function<void()> settle_;
  config::Gateway started_;
  std::shared_ptr<const config::Changeable> running_;
  std::future<Outcome> reading_;
  bool again_ = false;
};

// Reads the file, and compares it with the configurations at the start and in force. The thread of
// Reload calls this.
Reload::Outcome read_changes(const std::filesystem::path& file, const config::Gateway& started,
                             const std::shared_ptr<const config::Changeable>& running);

}  // namespace satrelay::satrelayd
