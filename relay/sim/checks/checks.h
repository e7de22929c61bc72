// Checks what must hold after any run.
#pragma once

#include <string>
#include <vector>

#include "relay/sim/checks/watch.h"
#include "relay/sim/network/network.h"

namespace satrelay::sim {

// Runs the scenario to its end and lists every broken promise; empty if all were kept. Makes the
// inspections every few seconds, in addition to those of relay/sim/checks/watch.h.
std::vector<std::string> run_and_check(Network& network, std::vector<Inspection> inspections = {});

// The checks alone, for networks that a test ran itself.
std::vector<std::string> check_flows(Network& network);
std::vector<std::string> check_flow(Network& network, std::size_t index);
std::vector<std::string> check_memory(Network& network);
// No gateway has sent more than its link carries (link_meter.h).
std::vector<std::string> check_links(Network& network);
// Every frame is delivered or free. Stops the gateways.
std::vector<std::string> stop_and_check_frames(Network& network);

// The kind of a broken promise: its first line, without the flow and without numbers.
std::string kind_of(const std::string& broken);

}  // namespace satrelay::sim
