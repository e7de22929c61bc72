// Reads the facts about a gateway within the gateway. It uses the gateway's own stats socket, so
// that the judgements get the same replies as in `satrelayctl doctor`. All reading may block.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "relay/doctor/facts.h"
#include "relay/doctor/read_facts.h"

namespace satrelay::ctl::doctor {

class OwnFacts {
 public:
  // Counters count in a span of this length or of up to twice this length. Otherwise a frame that
  // was lost once would be a fault until the end of the gateway.
  static constexpr Duration kSpan = Duration::seconds(300);

  struct Environment {
    std::string file;
    std::filesystem::path socket;
    std::chrono::milliseconds window;  // between two readings of the counters of silent peers
    std::function<bool()> is_stopped;
    Pause pause;
  };
  // `config`: the configuration that the gateway has started with.
  OwnFacts(Environment environment, config::Gateway config);

  // `reloads`: how often the gateway has taken over a configuration. Throws StatsError if the
  // gateway does not answer, or if the reading is stopped.
  Facts read(std::uint64_t reloads, Instant now);

 private:
  // Reads the file if it has changed since the latest reading, or was taken over meanwhile.
  FileFacts look_at_file(std::uint64_t reloads);
  void load(bool is_taken_over);
  void choose_span(GatewayFacts& facts, Instant now);

  struct Base {
    Instant at;
    Json counters, ports;
  };

  Environment environment_;
  config::Gateway running_;
  std::uint64_t reloads_ = 0;
  std::vector<std::pair<std::string, std::uint64_t>> loaded_;  // files, and when they were changed
  std::string mistake_;
  bool lacks_rights_ = false;      // the mistake is that the gateway's user may not read a file
  std::optional<Base> base_;       // at the begin of the span
  std::optional<Base> next_base_;  // at the begin of the next span
};

}  // namespace satrelay::ctl::doctor
