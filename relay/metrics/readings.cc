#include "relay/metrics/readings.h"

#include "relay/client/stats_client.h"

namespace satrelay::metrics {

Readings read_gateway(ctl::StatsClient& client) {
  Readings readings;
  try {
    readings.status = client.query("/satrelay/status");
    readings.up = true;
    readings.counters = client.query("/satrelay/counters");
    readings.ports = client.query("/satrelay/ports");
    readings.peers = client.query_all("/satrelay/peers");
    readings.histograms = client.query_all("/satrelay/histograms");
    readings.rules = client.query_all("/satrelay/rules");
    readings.classes = client.query_all("/satrelay/classes");
    // Send these two commands last, since an earlier version of the gateway does not know them.
    readings.records = client.query("/satrelay/records");
    readings.links = client.query_all("/satrelay/links");
  } catch (const ctl::StatsError& error) {
    readings.error = error.what();
  }
  return readings;
}

Readings read_gateway(const std::filesystem::path& socket, std::chrono::milliseconds timeout) {
  try {
    ctl::StatsClient client(socket, timeout);
    return read_gateway(client);
  } catch (const ctl::StatsError& error) {
    Readings readings;
    readings.error = error.what();
    return readings;
  }
}

}  // namespace satrelay::metrics
