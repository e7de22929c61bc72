// Reads the lines that a user types, and ends at Ctrl-C and at the end of the input.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace satrelay::ctl::init {

enum class StopReason { kInterrupted, kInputEnded, kDeclined };

// The user has stopped the program before anything was written.
class Stopped : public std::runtime_error {
 public:
  explicit Stopped(StopReason reason)
      : std::runtime_error("nothing was written"), reason_(reason) {}
  StopReason reason() const { return reason_; }

 private:
  StopReason reason_;
};

// Shows the prompt and returns a line without its end. Throws Stopped.
using LineSource = std::function<std::string(const std::string& prompt)>;

// Reads lines from standard input, which must be a terminal, after heed_interruptions().
std::string read_terminal_line(const std::string& prompt);

}  // namespace satrelay::ctl::init
