// The supervisor that has started this gateway, if there is one (relay/supervision/channel.h).
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "pep/base/time.h"
#include "relay/supervision/channel.h"

namespace satrelay::satrelayd {

class Supervisor {
 public:
  // Throws std::runtime_error if the environment names a supervisor wrongly.
  Supervisor();

  bool is_there() const { return channel_.has_value(); }

  // Tells the supervisor that the ports are open, and waits until the supervisor forwards no more
  // frames between them. Returns false if a signal stops the gateway meanwhile. Throws
  // std::runtime_error if the supervisor has ended, or does not answer.
  bool wait_for_ports();

  // Tells the supervisor that all workers run. Call it in each round; it tells that at intervals.
  template <typename AllRun>
  void run(Instant now, AllRun&& all_run) {
    if (!channel_ || now < next_word_) return;
    next_word_ = now + supervision::kRoundInterval;
    if (all_run()) tell_round();
  }

  // Has the supervisor switch the interface of port lan on or off.
  void switch_lan(bool on);

  // Tells the supervisor, once, that this gateway forwards no more frames.
  void tell_done();

  // Asks the supervisor to set up the interface of the port as at the start. Logs a refusal. Does
  // nothing before wait_for_ports() has returned. One thread only may call this.
  void prepare(const std::string& port);

 private:
  void tell_round();
  std::string ask_to_prepare(const std::string& port);

  std::optional<supervision::Channel> channel_;
  std::atomic<bool> has_ports_ = false;
  Instant next_word_;
  bool has_lost_it_ = false;
};

}  // namespace satrelay::satrelayd
