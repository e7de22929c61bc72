#include "relay/satlink/counters_json.h"

#include <nlohmann/json.hpp>

namespace satrelay::satlink {
namespace {

nlohmann::ordered_json direction(const link::LinkDirection& model, const HostCounters& host) {
  const link::DirectionCounters c = model.counters();
  return {{"frames_in", c.frames_in},
          {"bytes_in", c.bytes_in},
          {"frames_out", c.frames_out},
          {"bytes_out", c.bytes_out},
          {"dropped_queue", c.dropped_queue},
          {"dropped_loss", c.dropped_loss},
          {"dropped_outage", c.dropped_outage},
          {"dropped_memory", c.dropped_memory},
          {"dropped_no_buffer", host.dropped_no_buffer},
          {"corrupted", c.corrupted},
          {"duplicated", c.duplicated},
          {"reordered", c.reordered},
          {"queue_bytes", c.queue_bytes},
          {"frames_in_flight", model.frames_in_flight()},
          {"rate_bps", model.rate().to_bits_per_second()},
          {"outage", model.outage()}};
}

nlohmann::ordered_json port(const dpdk::Port& port) {
  const dpdk::PortStats s = port.stats();
  return {{"device", port.description()},
          {"link_up", port.link().up},
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
          {"tx_unsent", s.tx_unsent}};
}

}  // namespace

std::string counters_json(const Emulator& emulator, const dpdk::Port& a, const dpdk::Port& b,
                          Instant now) {
  nlohmann::ordered_json all{
      {"uptime_ms", (now - Instant()).to_milliseconds()},
      {"a_to_b", direction(emulator.a_to_b(), emulator.a_to_b_host())},
      {"b_to_a", direction(emulator.b_to_a(), emulator.b_to_a_host())},
      {"ports", {{"a", port(a)}, {"b", port(b)}}},
  };
  return all.dump() + "\n";
}

}  // namespace satrelay::satlink
