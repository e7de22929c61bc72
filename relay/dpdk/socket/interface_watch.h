// Watches the kernel interface of a port while the gateway runs. An interface may go down and come
// up, be renamed, or vanish with its driver and come back as a new interface, which the port's
// socket does not notice. This class makes no system calls: the caller passes the state of the
// interface to look().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pep/base/time.h"

namespace satrelay::dpdk {

// The state of the interface, as an argument of look().
struct InterfaceView {
  bool is_there = true;    // whether the interface that the port has opened still exists
  std::string name;        // the current name of the interface
  bool is_enabled = true;  // administratively up (`ip link set up`)
  bool is_running = true;  // operationally up: enabled, with a carrier
  std::uint32_t megabits = 0;
  // If the interface no longer exists: whether another interface (the successor) has the configured
  // name.
  bool has_successor = false;
  // Reasons why the port cannot use the successor, in a few words.
  std::vector<std::string> objections;
};

enum class PortChangeKind : std::uint8_t {
  kUp,
  kDown,
  kGone,      // the interface has vanished
  kReturned,  // the interface is back, and the port uses it
  kRenamed,
  kUnfit,  // the interface is back, but only after a restart of the program can the port use it
};

struct PortChange {
  PortChangeKind kind{};
  std::string detail;  // text about the change; may be empty
};

class InterfaceWatch {
 public:
  // If an interface has come back, it must have its former settings again within this time.
  static constexpr Duration kPatience = Duration::seconds(3);

  // `name`: the name by which the port has opened the interface.
  explicit InterfaceWatch(std::string name) : configured_(name), name_(std::move(name)) {}

  enum class Next : std::uint8_t { kNothing, kBind };
  // kBind: the caller binds the port to the successor, and then calls bound() or could_not_bind().
  Next look(const InterfaceView& view, Instant now);
  void bound();
  void could_not_bind(const std::string& why, Instant now);

  // The changes since the last call, in order.
  std::vector<PortChange> take_changes() { return std::exchange(changes_, {}); }
  bool is_gone() const { return state_ == State::kGone || state_ == State::kUnfit; }
  // True if the port cannot recover while the program runs.
  bool needs_new_start() const { return state_ == State::kUnfit; }

 private:
  enum class State : std::uint8_t { kUp, kDown, kGone, kUnfit };
  void look_at_present(const InterfaceView& view);
  void object(const std::string& objections, Instant now);

  std::string configured_;
  std::string name_;
  std::optional<State> state_;  // nullopt before the first look
  Instant unfit_since_ = Instant::never();
  std::vector<PortChange> changes_;
};

}  // namespace satrelay::dpdk
