// The keys of a link that choose its rate controller: `controller` and the parameters of each.
#pragma once

#include "config/document.h"
#include "config/schema.h"

namespace satrelay::config {

// `send_rate`: of the link. A parameter of another controller is refused at its place.
RateControl read_rate_control(const Fields& link, BitRate send_rate);

}  // namespace satrelay::config
