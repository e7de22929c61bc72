// Who may use a socket of the gateway.
#pragma once

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<Access>& access_keys();

enum class Others : bool { kMayNot, kMayRead };  // what `mode` may allow everybody on the machine

Access read_access(const Value& value, Others others);

}  // namespace satrelay::config
