// What must hold after a run, whatever the scenario was.
#pragma once

#include <string>
#include <vector>

#include "relay/sim/checks/watch.h"
#include "relay/sim/network/network.h"

namespace satrelay::sim {

// Runs the scenario to its end and lists every broken promise; empty if all were kept. The
// inspections are made every few seconds, beside those of relay/sim/checks/watch.h.
std::vector<std::string> run_and_check(Network& network, std::vector<Inspection> inspections = {});

// The checks alone, for networks that a test ran itself.
std::vector<std::string> check_flows(Network& network);
std::vector<std::string> check_flow(Network& network, std::size_t index);
std::vector<std::string> check_memory(Network& network);
// No gateway has sent more than its link carries (link_meter.h).
std::vector<std::string> check_links(Network& network);
// No frame is lost sight of. Stops the gateways.
std::vector<std::string> stop_and_check_frames(Network& network);

// What a broken promise has in common with others of its kind: its first line, without the flow
// and without numbers.
std::string kind_of(const std::string& broken);

}  // namespace satrelay::sim
