// Decides when port lan is switched off because port wan has no link, and when it is switched on
// again. A link that comes and goes does not make the LAN come and go.
#pragma once

#include <optional>

#include "pep/base/time.h"

namespace satrelay::satrelayd {

class LanFollower {
 public:
  // The link of port wan must be down for so long before port lan is switched off, and up for so
  // long before port lan is switched on again.
  static constexpr Duration kDownFor = Duration::seconds(2);
  static constexpr Duration kUpFor = Duration::seconds(5);

  // Call this often. Returns whether port lan must be switched on (true) or off (false) now;
  // nullopt if it stays as it is. Port lan is on at first.
  std::optional<bool> look(bool wan_is_up, Instant now) {
    if (wan_is_up == lan_is_on_) {
      other_since_ = Instant::never();
      return std::nullopt;
    }
    if (other_since_.is_never()) other_since_ = now;
    if (now - other_since_ < (wan_is_up ? kUpFor : kDownFor)) return std::nullopt;
    lan_is_on_ = wan_is_up;
    other_since_ = Instant::never();
    return lan_is_on_;
  }

 private:
  bool lan_is_on_ = true;
  Instant other_since_ = Instant::never();  // since when the link of port wan differs from port lan
};

}  // namespace satrelay::satrelayd
