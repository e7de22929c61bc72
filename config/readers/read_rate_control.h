// The keys of a link that choose its rate controller: `capacity`, or `controller` and the
// parameters of each.
#pragma once

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<RateControl>& control_keys();

// What no target may exceed, and what the file calls it.
struct MostRate {
  BitRate rate;
  const char* name = "send_rate";
};
// `capacity: find`, which takes the place of a controller.
bool finds_capacity(const Fields& link);
// A parameter of another controller is refused at its place.
RateControl read_rate_control(const Fields& link, MostRate most);

}  // namespace satrelay::config
