// Rules that decide nothing. They are allowed, but the operator seldom means them.
#pragma once

#include <vector>

#include "config/checks/contradiction.h"
#include "config/model/schema.h"

namespace satrelay::config {

// Whether each packet that `b` matches is matched by `a`, as far as one criterion of `a` alone
// shows it for one criterion of `b`.
bool covers(const Match& a, const Match& b);

// Returns the rules that no packet reaches because an earlier rule matches all of their packets,
// and "rules" if none of the rules relays anything. Rules behind the first kMostCompared are not
// compared, because each is compared with all before it.
std::vector<Contradiction> find_idle_rules(const std::vector<Rule>& rules);
inline constexpr std::size_t kMostCompared = 1000;

}  // namespace satrelay::config
