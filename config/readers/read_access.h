// Who may use a socket of the gateway.
#pragma once

#include "config/model/schema.h"
#include "config/readers/document.h"

namespace satrelay::config {

enum class Others : bool { kMayNot, kMayRead };  // what `mode` may allow everybody on the machine

Access read_access(const Value& value, Others others);

}  // namespace satrelay::config
