// Wraps DPDK's telemetry values, and owns them. DPDK 22.11 can print dicts of numbers, strings and
// dicts, but not lists of dicts. So a listing is a dict with positions as keys.
#pragma once

#include <rte_telemetry.h>

#include <cstdint>
#include <memory>
#include <string>

namespace satrelay::ops {

class TelemetryDict {
 public:
  TelemetryDict();  // throws std::bad_alloc
  // Fills a value that DPDK passes to a command. DPDK keeps the ownership of the value.
  explicit TelemetryDict(rte_tel_data* reply);

  // A key may have letters, digits and '_', and at most 127 characters. Strings longer than 127
  // characters are cut. A dict may have at most 256 entries.
  void add(const char* key, std::uint64_t value);
  void add(const char* key, const std::string& value);
  void add(const char* key, TelemetryDict value);

 private:
  struct Free {
    void operator()(rte_tel_data* data) const { rte_tel_data_free(data); }
  };
  std::unique_ptr<rte_tel_data, Free> owned_;
  rte_tel_data* data_;
};

}  // namespace satrelay::ops
