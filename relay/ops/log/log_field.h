// A named value that belongs to a message of the log, for journals that store fields.
#pragma once

#include <string>

namespace satrelay::ops {

struct LogField {
  std::string name;  // capitals, digits, '_': "SATRELAY_EVENT"
  std::string value;
};

}  // namespace satrelay::ops
