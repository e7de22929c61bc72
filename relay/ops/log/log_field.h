// A named value that belongs to a log message. Journals store such values as fields.
#pragma once

#include <string>

namespace satrelay::ops {

struct LogField {
  std::string name;  // capital letters, digits and '_', such as "SATRELAY_EVENT"
  std::string value;
};

}  // namespace satrelay::ops
