// The rate of a pacer on a link of known rate. It is a little less than the rate of the link, so
// that the queue of the modem drains even if clocks differ or the modem sometimes counts more
// bytes.
#pragma once

#include <cstdint>

#include "pep/base/units.h"

namespace satrelay::control {

inline constexpr std::uint64_t kPacedPermille = 995;

inline BitRate paced_rate(BitRate link) { return link.scaled(kPacedPermille, 1000); }
// The rate of a link with the paced rate `paced`.
inline BitRate link_rate_of(BitRate paced) { return paced.scaled(1000, kPacedPermille); }

}  // namespace satrelay::control
