#include "relay/satlink/counters.h"

#include <nlohmann/json.hpp>

namespace satrelay::satlink {
namespace {

dpdk::TelemetrySection direction(const char* name, const link::LinkDirection& model,
                                 const HostCounters& host) {
  const link::DirectionCounters c = model.counters();
  const auto& by_class = c.dropped_queue_by_priority;  // of dropped_queue
  return {name,
          {{"frames_in", c.frames_in},
           {"bytes_in", c.bytes_in},
           {"frames_out", c.frames_out},
           {"bytes_out", c.bytes_out},
           {"bytes_carried", c.bytes_carried},
           {"dropped_queue", c.dropped_queue},
           {"dropped_mtu", c.dropped_mtu},
           {"dropped_loss", c.dropped_loss},
           {"dropped_outage", c.dropped_outage},
           {"dropped_memory", c.dropped_memory},
           {"dropped_no_buffer", host.dropped_no_buffer},
           {"corrupted", c.corrupted},
           {"duplicated", c.duplicated},
           {"reordered", c.reordered},
           {"queue_full_high", by_class[0]},
           {"queue_full_low", by_class[1]},
           {"queue_full_start_high", by_class[2]},
           {"queue_full_start_low", by_class[3]},
           {"queue_bytes", c.queue_bytes},
           {"frames_in_flight", model.frames_in_flight()},
           {"rate_bps", model.rate().to_bits_per_second()},
           {"outage", model.outage() ? 1U : 0U}}};
}

dpdk::TelemetrySection port_section(const char* name, const dpdk::Port& port) {
  const dpdk::PortStats s = port.stats();
  return {name,
          {{"link_up", port.link().up ? 1U : 0U},
           {"rx_frames", s.rx_frames},
           {"rx_bytes", s.rx_bytes},
           {"tx_frames", s.tx_frames},
           {"tx_bytes", s.tx_bytes},
           {"rx_missed", s.rx_missed},
           {"rx_errors", s.rx_errors},
           {"rx_no_buffer", s.rx_no_buffer},
           {"rx_merged", s.rx_merged},
           {"rx_checksums_finished", s.rx_checksums_finished},
           {"tx_errors", s.tx_errors},
           {"tx_unsent", s.tx_unsent},
           {"tx_down", s.tx_down}}};
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
