// Start-up of DPDK's environment abstraction layer from our own configuration.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"

namespace satrelay::dpdk {

struct EalConfig {
  std::string program;      // "satrelayd": for messages
  std::string file_prefix;  // several programs on one machine need one each
  std::optional<unsigned> cpu;
  std::size_t memory = std::size_t{64} << 20;  // bytes for packet pools; what DPDK needs is added
  std::vector<config::Port> ports;             // decides which buses are looked at
  bool verbose = false;                        // DPDK's own messages, not only its warnings
};

// One a process; DPDK cannot be started twice.
class Eal {
 public:
  // Uses hugepages where enough are free, normal pages elsewhere. Throws std::runtime_error.
  explicit Eal(const EalConfig& config);
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;
  ~Eal();

  bool uses_hugepages() const { return uses_hugepages_; }
  // What the operator should know, a sentence each.
  const std::vector<std::string>& notices() const { return notices_; }
  static std::string runtime_directory();
  // The path of DPDK's telemetry socket, version 2.
  static std::string stats_socket() { return runtime_directory() + "/dpdk_telemetry.v2"; }

 private:
  bool uses_hugepages_ = false;
  std::vector<std::string> notices_;
};

// The arguments that the Eal passes on, for tests: config and the machine in, words out.
struct Machine {
  std::size_t free_hugepage_bytes = 0;
  std::vector<unsigned> cpus;  // on which the process may run
};
std::vector<std::string> eal_arguments(const EalConfig& config, const Machine& machine);

}  // namespace satrelay::dpdk
