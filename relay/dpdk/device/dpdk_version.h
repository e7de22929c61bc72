// The calls whose names differ between DPDK 22.11 (Debian 12) and 24.11 (Debian 13).
#pragma once

#include <pthread.h>
#include <rte_lcore.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#include <cstdint>

namespace satrelay::dpdk {

#if RTE_VERSION >= RTE_VERSION_NUM(23, 7, 0, 0)

using ThreadResult = std::uint32_t;

// Starts a thread on the CPUs that DPDK leaves to control threads. Returns 0, or an error number.
inline int start_control_thread(pthread_t& thread, const char* name, rte_thread_func enter,
                                void* argument) {
  rte_thread_t made{};
  const int error = rte_thread_create_control(&made, name, enter, argument);
  thread = made.opaque_id;
  return error;
}

inline void add_unsigned(rte_tel_data* dict, const char* name, std::uint64_t value) {
  rte_tel_data_add_dict_uint(dict, name, value);
}

#else

using ThreadResult = void*;

inline int start_control_thread(pthread_t& thread, const char* name, void* (*enter)(void*),
                                void* argument) {
  return rte_ctrl_thread_create(&thread, name, nullptr, enter, argument);
}

inline void add_unsigned(rte_tel_data* dict, const char* name, std::uint64_t value) {
  rte_tel_data_add_dict_u64(dict, name, value);
}

#endif

}  // namespace satrelay::dpdk
