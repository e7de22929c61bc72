// Reads the part of gateway.yaml that other programs need to find a gateway and its ports. The rest
// of the file may be wrong: a supervisor must join the ports even then.
#pragma once

#include <filesystem>
#include <string>

#include "config/model/schema.h"

namespace satrelay::config {

struct Outline {
  Port lan;
  Port wan;
  bool lan_follows_wan = false;
  std::string stats_socket_prefix;
  std::string control_socket;  // empty if it is beside the stats socket; may be kNoSocket
};

// Throws ConfigError if the file cannot be read, is no YAML, or if one of these parts is missing or
// wrong.
Outline load_outline(const std::filesystem::path& file);
Outline parse_outline(const std::string& text, const std::string& file);

}  // namespace satrelay::config
