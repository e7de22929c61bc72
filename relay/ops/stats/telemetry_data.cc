#include "relay/ops/stats/telemetry_data.h"

#include <new>
#include <utility>

#include "relay/dpdk/device/dpdk_version.h"

namespace satrelay::ops {

TelemetryDict::TelemetryDict() : owned_(rte_tel_data_alloc()), data_(owned_.get()) {
  if (data_ == nullptr) throw std::bad_alloc();
  rte_tel_data_start_dict(data_);
}

TelemetryDict::TelemetryDict(rte_tel_data* reply) : data_(reply) { rte_tel_data_start_dict(data_); }

void TelemetryDict::add(const char* key, std::uint64_t value) {
  dpdk::add_unsigned(data_, key, value);
}

void TelemetryDict::add(const char* key, const std::string& value) {
  // If the string is too long, DPDK truncates it and returns an error. The reply is still usable,
  // so ignore the error.
  rte_tel_data_add_dict_string(data_, key, value.c_str());
}

void TelemetryDict::add(const char* key, TelemetryDict value) {
  // Release the value only if DPDK has taken it: DPDK frees it with the reply.
  if (rte_tel_data_add_dict_container(data_, key, value.data_, 0) != 0) return;
  static_cast<void>(value.owned_.release());
}

}  // namespace satrelay::ops
