// The keys of a link that choose its rate controller: `capacity`, or `controller` and the
// parameters of each controller.
#pragma once

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<RateControl>& control_keys();

// The highest allowed `target`, and its name in messages.
struct MostRate {
  BitRate rate;
  const char* name = "send_rate";
};
// Whether the link has `capacity: find`, which replaces a controller.
bool finds_capacity(const Fields& link);
// Throws ConfigError at a parameter that belongs to another controller.
RateControl read_rate_control(const Fields& link, MostRate most);

}  // namespace satrelay::config
