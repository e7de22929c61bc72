// The rate that a pacer keeps on a link whose rate is known: a little less, so that the queue of
// the modem drains although clocks differ and the modem counts other bytes now and then.
#pragma once

#include <cstdint>

#include "pep/base/units.h"

namespace satrelay::control {

inline constexpr std::uint64_t kPacedPermille = 995;

inline BitRate paced_rate(BitRate link) { return link.scaled(kPacedPermille, 1000); }
// The rate of the link that is paced at `paced`.
inline BitRate link_rate_of(BitRate paced) { return paced.scaled(1000, kPacedPermille); }

}  // namespace satrelay::control
