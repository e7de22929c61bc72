// Starts DPDK's environment abstraction layer from our own configuration.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"

namespace satrelay::dpdk {

struct EalConfig {
  std::string program;      // name for messages, such as "satrelayd"
  std::string file_prefix;  // DPDK's file prefix, which must be unique on the machine
  std::optional<unsigned> cpu;
  std::size_t memory = std::size_t{64} << 20;  // bytes for packet pools; DPDK's own need is added
  std::vector<config::Port> ports;             // DPDK scans only the buses of these ports
  bool verbose = false;                        // print all messages of DPDK, not only warnings
};

// At most one in a process: DPDK cannot be started twice.
class Eal {
 public:
  // Uses hugepages if enough of them are free, and otherwise normal pages. Throws
  // std::runtime_error.
  explicit Eal(const EalConfig& config);
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;
  ~Eal();

  bool uses_hugepages() const { return uses_hugepages_; }
  // Notices to the operator, one sentence each.
  const std::vector<std::string>& notices() const { return notices_; }
  static std::string runtime_directory();
  // The path of DPDK's telemetry socket, version 2.
  static std::string stats_socket() { return runtime_directory() + "/dpdk_telemetry.v2"; }

 private:
  bool uses_hugepages_ = false;
  std::vector<std::string> notices_;
};

// The arguments that Eal gives to DPDK, as a pure function of the configuration and the machine.
struct Machine {
  std::size_t free_hugepage_bytes = 0;
  std::vector<unsigned> cpus;  // CPUs that the process may run on
};
std::vector<std::string> eal_arguments(const EalConfig& config, const Machine& machine);

}  // namespace satrelay::dpdk
