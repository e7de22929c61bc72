// Checks the conditions that must hold after any run.
#pragma once

#include <string>
#include <vector>

#include "relay/sim/checks/watch.h"
#include "relay/sim/network/network.h"

namespace satrelay::sim {

// Runs the scenario to its end, and returns a text for each check that failed. Every few seconds,
// it calls `inspections` and the inspections of relay/sim/checks/watch.h.
std::vector<std::string> run_and_check(Network& network, std::vector<Inspection> inspections = {});

// The separate checks, for tests that run a network themselves.
std::vector<std::string> check_flows(Network& network);
std::vector<std::string> check_flow(Network& network, std::size_t index);
std::vector<std::string> check_memory(Network& network);
// Checks that no gateway sent more than its link carries (link_meter.h).
std::vector<std::string> check_links(Network& network);
// Stops the gateways, then checks that every frame was delivered or released.
std::vector<std::string> stop_and_check_frames(Network& network);

// Returns the kind of a failure: the first line of its text, without the name of the flow and
// without numbers.
std::string kind_of(const std::string& broken);

}  // namespace satrelay::sim
