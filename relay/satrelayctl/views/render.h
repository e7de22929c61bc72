// Formats the replies of the stats socket as tables for people. The functions are pure: JSON in,
// text out. If the reply lacks a field, as a reply from another version of the gateway may, the
// field is shown as "-". `width` is the largest length of a line in characters. Text that does not
// fit is either folded, or left out and mentioned in a notice.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "relay/text/table.h"

namespace satrelay::ctl {

std::string render_status(const nlohmann::ordered_json& status,
                          std::size_t width = text::kAnyWidth);
std::string render_ports(const nlohmann::ordered_json& ports, std::size_t width = text::kAnyWidth);
std::string render_peers(const nlohmann::ordered_json& peers, std::size_t width = text::kAnyWidth);
std::string render_links(const nlohmann::ordered_json& links, std::size_t width = text::kAnyWidth);
std::string render_rules(const nlohmann::ordered_json& rules, std::size_t width = text::kAnyWidth);
std::string render_classes(const nlohmann::ordered_json& classes,
                           std::size_t width = text::kAnyWidth);
std::string render_histograms(const nlohmann::ordered_json& histograms,
                              std::size_t width = text::kAnyWidth);
std::string render_bridged(const nlohmann::ordered_json& connections,
                           std::size_t width = text::kAnyWidth);
std::string render_records(const nlohmann::ordered_json& records,
                           std::size_t width = text::kAnyWidth);
std::string render_explanation(const nlohmann::ordered_json& explanation,
                               std::size_t width = text::kAnyWidth);
std::string render_flows(const nlohmann::ordered_json& flows, std::size_t width = text::kAnyWidth);
// Formats the reply for the command `flow`.
std::string render_flow(const nlohmann::ordered_json& flow, std::size_t width = text::kAnyWidth);

enum class Zeros { kHide, kShow };
std::string render_counters(const nlohmann::ordered_json& counters, Zeros zeros,
                            std::size_t width = text::kAnyWidth);

}  // namespace satrelay::ctl
