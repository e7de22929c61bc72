// Limits what HELLOs and CLOSEs of all sessions on a carrier take of it.
#pragma once

#include "pep/control/budget.h"

namespace satrelay::stp {

// nullptr: no limit.
struct HandshakeBudgets {
  control::Budget* hellos = nullptr;   // HELLOs that answer no HELLO
  control::Budget* answers = nullptr;  // answers, and HELLOs to a peer that is alive
  control::Budget* closes = nullptr;
};

}  // namespace satrelay::stp
