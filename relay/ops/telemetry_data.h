// DPDK's telemetry values with an owner. Shapes that DPDK 22.11 can print: a dict of numbers,
// strings and dicts; a list of dicts.
#pragma once

#include <rte_telemetry.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace satrelay::ops {

class TelemetryDict {
 public:
  TelemetryDict();  // throws std::bad_alloc
  // Fills the value that DPDK hands to a command; it stays DPDK's.
  explicit TelemetryDict(rte_tel_data* reply);

  // Keys: letters, digits, '_', at most 127. Longer strings than 127 are cut.
  void add(const char* key, std::uint64_t value);
  void add(const char* key, const std::string& value);
  void add(const char* key, TelemetryDict value);

 private:
  friend class TelemetryList;
  struct Free {
    void operator()(rte_tel_data* data) const { rte_tel_data_free(data); }
  };
  std::unique_ptr<rte_tel_data, Free> owned_;
  rte_tel_data* data_;
};

class TelemetryList {
 public:
  explicit TelemetryList(rte_tel_data* reply);
  void add(TelemetryDict value);

 private:
  rte_tel_data* data_;
};

}  // namespace satrelay::ops
