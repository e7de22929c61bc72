// The configuration read anew while the gateway runs: on a thread of its own, off the data path,
// and handed over whole or not at all.
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
  // on the thread that reads, which begins on the CPU of the worker that asks for it.
  Reload(
      std::filesystem::path file, const config::Gateway& started,
      std::function<void()> settle = [] {})
      : file_(std::move(file)),
        settle_(std::move(settle)),
        started_(started),
        running_(std::make_shared<const config::Changeable>(started)) {
    // They may change, and dictionaries take much memory.
    started_.classes.clear();
    for (config::Peer& peer : started_.peers) peer.security.forget_keys();
  }

  // Begins to read. While it reads already it reads once more afterwards: the file may have changed
  // since.
  void begin();
  bool is_reading() const { return reading_.valid() || again_; }

  struct Outcome {
    std::optional<config::Gateway> configuration;          // to be taken over
    gateway::Prepared prepared;                            // what it was made into
    std::vector<config::ChangedKey> changes;               // in which it differs from what runs
    std::string error;                                     // or why not
    std::shared_ptr<const config::Changeable> changeable;  // of `configuration`
  };
  // What came of it, once. To be called often, also to begin the second reading.
  std::optional<Outcome> poll();
  // It runs with that from now on.
  void took_over(const Outcome& outcome) { running_ = outcome.changeable; }

 private:
  std::filesystem::path file_;
  std::function<void()> settle_;
  config::Gateway started_;
  std::shared_ptr<const config::Changeable> running_;
  std::future<Outcome> reading_;
  bool again_ = false;
};

// Reads the file and compares; what Reload does on its thread.
Reload::Outcome read_changes(const std::filesystem::path& file, const config::Gateway& started,
                             const std::shared_ptr<const config::Changeable>& running);

}  // namespace satrelay::satrelayd
