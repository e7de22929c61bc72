// Limits how much of a carrier the HELLOs and CLOSEs of all its sessions may use.
#pragma once

#include "pep/control/budget.h"

namespace satrelay::stp {

// nullptr stands for no limit.
struct HandshakeBudgets {
  control::Budget* hellos = nullptr;   // HELLOs that answer no HELLO, to a peer that is not alive
  control::Budget* answers = nullptr;  // HELLOs that answer a HELLO, or go to an alive peer
  control::Budget* closes = nullptr;
};

}  // namespace satrelay::stp
