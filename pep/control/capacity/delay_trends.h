// The trends of the delay that a search for the capacity uses: a quick one for a link that fades,
// and a slow one for a rate that is a few per mille too high.
#pragma once

#include "pep/base/time.h"
#include "pep/control/capacity/delay_trend.h"

namespace satrelay::control {

struct DelayTrends {
  DelayTrend quick{{Duration::milliseconds(20), 1, Duration::milliseconds(32)}};
  // Detects slow growth, which `quick` misses.
  DelayTrend slow{{Duration::milliseconds(500), 3, Duration::milliseconds(40)}};

  void add(const DelayTrend::Point& point) {
    quick.add(point);
    slow.add(point);
  }
  void clear() {
    quick.clear();
    slow.clear();
  }
};

}  // namespace satrelay::control
