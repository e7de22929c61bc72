// Reads the facts about a gateway within the gateway. It uses the gateway's own stats socket, so
// that the judgements get the same replies as in `satrelayctl doctor`. It never parses the file of
// the gateway (taken_over.h). All reading may block.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "pep/base/time.h"
#include "relay/doctor/facts.h"
#include "relay/doctor/read_facts.h"
#include "relay/doctor/taken_over.h"

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
  explicit OwnFacts(Environment environment) : environment_(std::move(environment)) {}

  // `running`: the configuration that the gateway works with. Throws StatsError if the gateway does
  // not answer, or if the reading is stopped.
  Facts read(const TakenOver& running, Instant now);

 private:
  void choose_span(GatewayFacts& facts, Instant now);

  struct Base {
    Instant at;
    Json counters, ports;
  };

  Environment environment_;
  std::optional<Base> base_;       // at the begin of the span
  std::optional<Base> next_base_;  // at the begin of the next span
};

}  // namespace satrelay::ctl::doctor
