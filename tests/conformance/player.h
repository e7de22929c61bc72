// Plays a script on a host, and checks the host's segments and states.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/host.h"
#include "tests/conformance/script.h"
#include "tests/conformance/segment_text.h"

namespace satrelay::conformance {

struct Outcome {
  bool passed = false;
  std::string message;  // Message of a failure: "file:line: what".
  std::vector<std::string> ladder;
};

class Player {
 public:
  // `side` says which side `host` stands for: kEndpoint or kKernel.
  Player(const Script& script, Host& host, For side);
  Outcome play();

 private:
  struct Window {
    Instant earliest;
    Instant latest;
  };
  [[noreturn]] void fail(const std::string& what) const;
  Window window_of(const When& when) const;
  void run(const Step& step);
  void send(const SegmentText& text, Instant at);
  void expect(const SegmentText& text, const Window& window);
  void expect_one(const SegmentText& text, const Window& window, bool last);
  void act(const Act& act, Instant at);
  void wait_in_silence(Instant until);
  void write(std::int64_t count, Verb verb);
  void read(std::int64_t count);
  void learn_from(const Departure& departure);
  std::string mismatch(const SegmentText& text, const Departure& departure, bool last) const;
  std::string option_mismatch(const SegmentText& text, const Departure& departure) const;
  bool options_match(const Option& wanted, const Option& seen) const;
  std::vector<Option> options_to_send(const SegmentText& text);
  Origin origin_of_host() const;
  Origin origin_of_peer() const;
  std::int64_t script_milliseconds(Instant at) const;
  void note(Instant at, const std::string& text);

  const Script& script_;
  Host& host_;
  const For side_;
  const Tolerance tolerance_;
  const Step* step_ = nullptr;
  Instant zero_;  // Start of the script's clock.
  Instant last_;  // Time of the step before.
  std::optional<std::uint32_t> isn_;
  std::uint32_t peer_isn_;
  std::optional<std::uint32_t> timestamp_base_;  // The host's TSval at script time 0, less 1000.
  std::uint32_t last_timestamp_ = 0;             // The host's latest TSval.
  std::optional<std::uint32_t> peer_timestamp_;  // The peer's latest TSval.
  Instant peer_timestamp_at_;
  bool host_has_timestamps_ = false;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;
  Outcome outcome_;
};

}  // namespace satrelay::conformance
