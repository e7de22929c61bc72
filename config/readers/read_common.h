// What gateway.yaml and link.yaml have in common.
#pragma once

#include <cstdint>

#include "config/model/schema.h"
#include "config/readers/document.h"

namespace satrelay::config {

Port read_port(const Value& value);
// `most`: workers that the program may have; 1: its number is no key.
Worker read_worker(const Value& value, unsigned most = 1);
// Of another gateway.
unsigned read_workers(const Value& value);
LogLevel read_log_level(const Value& value);
std::uint32_t read_overhead(const Value& value);
// A name of a link or a peer: letters, digits, '_', '-', at most 32.
void check_name(const Value& place, const std::string& name);
// DPDK's --file-prefix: also a directory name.
std::string read_stats_socket_prefix(const Value& value);
// An absolute path that fits sockaddr_un.
std::string read_socket_path(const Value& value);

}  // namespace satrelay::config
