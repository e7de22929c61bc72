// Which changes of a configuration a running gateway takes over, and which need a restart.
#pragma once

#include <string>
#include <vector>

#include "config/schema.h"

namespace satrelay::config {

// The keys in which `next` differs from what the gateway was started with although it cannot change
// while it runs; each with the reason where it is not plain. Empty: `next` can be taken over.
std::vector<std::string> needs_restart(const Gateway& started, const Gateway& next);

}  // namespace satrelay::config
