// The parts that gateway.yaml and link.yaml have in common.
#pragma once

#include <cstdint>
#include <string>

#include "config/keys/key.h"
#include "config/model/schema.h"
#include "config/readers/document.h"

namespace satrelay::config {

const Keys<Port>& port_keys();
// worker_keys() is for a program that may have several workers, only_worker_keys() for a program
// with one.
const Keys<Worker>& worker_keys();
const Keys<Worker>& only_worker_keys();

Port read_port(const Value& value);
// The name of a kernel interface.
std::string read_interface(const Value& value);
// "0000:01:00.0", or "01:00.0" in domain 0000. Returns the long form.
std::string read_pci(const Value& value);
// `most` is the largest number of workers that the program may have. If `most` is 1, `count` and
// `cpus` are refused.
Worker read_worker(const Value& value, unsigned most = 1);

// The number of workers of another gateway. 0 means as many as this gateway has.
Kind<unsigned> workers();
Kind<std::uint32_t> overhead();
// DPDK's --file-prefix, which is also the name of a folder.
Kind<std::string> stats_socket_prefix();
Kind<std::string> control_socket();
// An absolute path that fits sockaddr_un.
std::string read_socket_path(const Value& value);

// Throws ConfigError at `place` if `name` is not 1 to 32 letters, digits, '_' or '-'.
void check_name(const Value& place, const std::string& name);

}  // namespace satrelay::config
