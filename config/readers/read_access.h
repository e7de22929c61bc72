// The access to a socket of the gateway: its group and its mode.
#pragma once

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<Access>& access_keys();

enum class Others : bool { kMayNot, kMayRead };  // whether `mode` may be 0666

Access read_access(const Value& value, Others others);

}  // namespace satrelay::config
