// Messages for the operator, on stderr: plain for a terminal or a file, with a syslog priority
// prefix
// ("<4>") where stderr goes to the journal, which keeps times itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/schema.h"

namespace satrelay::ops {

using Level = config::LogLevel;

class Log {
 public:
  // `program` starts each plain line; messages below `level` are left out.
  Log(std::string program, Level level);

  void error(std::string_view message) const { write(Level::kError, message); }
  void warning(std::string_view message) const { write(Level::kWarning, message); }
  void info(std::string_view message) const { write(Level::kInfo, message); }
  void debug(std::string_view message) const { write(Level::kDebug, message); }

 private:
  void write(Level level, std::string_view message) const;

  std::string program_;
  Level level_;
  bool journal_;
};

}  // namespace satrelay::ops
