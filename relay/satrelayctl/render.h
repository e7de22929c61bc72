// The replies of the stats socket as tables for people. Pure: JSON in, text out. A field that a
// reply lacks (another version of the gateway) is shown as "-".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace satrelay::ctl {

std::string render_status(const nlohmann::ordered_json& status);
std::string render_ports(const nlohmann::ordered_json& ports);
std::string render_peers(const nlohmann::ordered_json& peers);
std::string render_rules(const nlohmann::ordered_json& rules);
std::string render_classes(const nlohmann::ordered_json& classes);
std::string render_explanation(const nlohmann::ordered_json& explanation);
std::string render_flows(const nlohmann::ordered_json& flows);
std::string render_flow(const nlohmann::ordered_json& flow);  // of the command flow

enum class Zeros { kHide, kShow };
std::string render_counters(const nlohmann::ordered_json& counters, Zeros zeros);

}  // namespace satrelay::ctl
