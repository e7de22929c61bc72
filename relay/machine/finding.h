// Something on this machine, in its configuration or in its gateway that is wrong, or may be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "relay/ops/events/severity.h"

namespace satrelay::machine {

// The events of a gateway that report the same as a finding.
struct ToldBy {
  std::string_view begin;    // the name of the event; empty: no event reports it
  std::string_view end;      // the event that ends it; empty: `begin` reports the finding always
  std::string_view subject;  // the subject of both events; empty: the subject of the finding
};

struct Finding {
  std::string_view check;  // the name of the check, which never changes: "port_missing"
  ops::Severity severity = ops::Severity::kInfo;
  std::string subject;    // the thing that is wrong: "port lan", "peer hub", "worker.cpu"
  std::string seen;       // the observation, with its figure
  std::string cause;      // why that is so, or why it is a fault
  std::string cure;       // a command, or a key of the configuration
  std::string_view page;  // the place in the documents: "troubleshooting.md#the-machine"
  ToldBy told_by = {};    // a gateway makes no event of a finding that another event reports
};
using Findings = std::vector<Finding>;

inline constexpr std::string_view kPageOfNoStart =
    "troubleshooting.md#the-gateway-does-not-start-or-refuses-a-command";
inline constexpr std::string_view kPageOfMachine = "troubleshooting.md#the-machine";
inline constexpr std::string_view kPageOfPassing = "troubleshooting.md#something-does-not-pass";
inline constexpr std::string_view kPageOfSpeed = "troubleshooting.md#it-is-slow";

// The finding in one line: "port lan: there is no interface eth9 on this machine; run ip link".
inline std::string to_line(const Finding& finding) {
  return finding.subject + ": " + finding.seen + "; " + finding.cure;
}

}  // namespace satrelay::machine
