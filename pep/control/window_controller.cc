#include "pep/control/window_controller.h"

#include "pep/control/cubic.h"
#include "pep/control/new_reno.h"

namespace satrelay::control {

std::unique_ptr<WindowController> make_window_controller(Congestion congestion,
                                                         std::uint32_t segment_size) {
  if (congestion == Congestion::kNewReno) return std::make_unique<NewReno>(segment_size);
  return std::make_unique<Cubic>(segment_size);
}

}  // namespace satrelay::control
