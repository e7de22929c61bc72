#include "relay/satlink/counters.h"

#include <nlohmann/json.hpp>

namespace satrelay::satlink {
namespace {

template <typename Counters>
void append(dpdk::TelemetrySection& section, const Counters& counters) {
  for (const auto& field : Counters::kFields) {
    section.values.emplace_back(field.name, value_of(counters, field));
  }
}

dpdk::TelemetrySection direction(const char* name, const link::LinkDirection& model,
                                 const HostCounters& host) {
  dpdk::TelemetrySection section{name, {}};
  append(section, model.counters());
  append(section, host);
  section.values.emplace_back("frames_in_flight", model.frames_in_flight());
  section.values.emplace_back("rate_bps", model.rate().to_bits_per_second());
  section.values.emplace_back("outage", model.outage() ? 1U : 0U);
  return section;
}

dpdk::TelemetrySection port_section(const char* name, const dpdk::Port& port) {
  dpdk::TelemetrySection section{name, {{"link_up", port.link().up ? 1U : 0U}}};
  append(section, port.stats());
  return section;
}

}  // namespace

dpdk::TelemetryReply collect_counters(const Emulator& emulator, const dpdk::Port& a,
                                      const dpdk::Port& b) {
  return {direction("a_to_b", emulator.a_to_b(), emulator.a_to_b_host()),
          direction("b_to_a", emulator.b_to_a(), emulator.b_to_a_host()), port_section("port_a", a),
          port_section("port_b", b)};
}

std::string counters_json(const dpdk::TelemetryReply& counters, Instant now) {
  nlohmann::ordered_json all{{"uptime_ms", (now - Instant()).to_milliseconds()}};
  for (const dpdk::TelemetrySection& section : counters) {
    nlohmann::ordered_json& part = all[section.name];
    for (const auto& [name, value] : section.values) part[name] = value;
  }
  return all.dump() + "\n";
}

}  // namespace satrelay::satlink
