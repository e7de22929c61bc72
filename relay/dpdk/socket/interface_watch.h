// What becomes of the kernel interface under a port while the gateway runs, as a rule: interfaces
// go down and come up, are renamed, vanish with their driver and come back as new ones, of which
// the port's socket knows nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pep/base/time.h"

namespace satrelay::dpdk {

// What a look at it has found.
struct InterfaceView {
  bool is_there = true;    // the one that the port has opened
  std::string name;        // that it has now
  bool is_enabled = true;  // set up, as by `ip link set up`
  bool is_running = true;  // and with a carrier
  std::uint32_t megabits = 0;
  // In its absence: another one of the configured name.
  bool has_successor = false;
  std::vector<std::string> objections;  // why the port cannot go on with that, a few words each
};

enum class PortChangeKind : std::uint8_t {
  kUp,
  kDown,
  kGone,      // the interface itself
  kReturned,  // and the port goes on with it
  kRenamed,
  kUnfit,  // it has returned in a state that only a new start can put right
};

struct PortChange {
  PortChangeKind kind{};
  std::string detail;  // may be empty
};

class InterfaceWatch {
 public:
  // An interface that has returned may still be on its way to what it was.
  static constexpr Duration kPatience = Duration::seconds(3);

  // `name`: by which the port has opened it.
  explicit InterfaceWatch(std::string name) : configured_(name), name_(std::move(name)) {}

  enum class Next : std::uint8_t { kNothing, kBind };
  // kBind: the port is to be bound to the successor; then one of the next two is called.
  Next look(const InterfaceView& view, Instant now);
  void bound();
  void could_not_bind(const std::string& why, Instant now);

  // What has happened since the last call, in order.
  std::vector<PortChange> take_changes() { return std::exchange(changes_, {}); }
  bool is_gone() const { return state_ == State::kGone || state_ == State::kUnfit; }
  // The port cannot be mended while the program runs.
  bool needs_new_start() const { return state_ == State::kUnfit; }

 private:
  enum class State : std::uint8_t { kUp, kDown, kGone, kUnfit };
  void look_at_present(const InterfaceView& view);
  void object(const std::string& objections, Instant now);

  std::string configured_;
  std::string name_;
  std::optional<State> state_;  // nullopt: not looked at yet
  Instant unfit_since_ = Instant::never();
  std::vector<PortChange> changes_;
};

}  // namespace satrelay::dpdk
