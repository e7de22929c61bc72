// Budgets that limit how many bytes of a carrier the HELLOs and CLOSEs of all its sessions may use.
#pragma once

#include "pep/control/budget.h"

namespace satrelay::stp {

// nullptr means no limit.
struct HandshakeBudgets {
  // For HELLOs that answer no HELLO, and go to a peer that is not alive.
  control::Budget* hellos = nullptr;
  control::Budget* answers = nullptr;  // for HELLOs that answer a HELLO, or go to an alive peer
  control::Budget* closes = nullptr;
};

}  // namespace satrelay::stp
