// The configuration of a gateway with one extra key on line 5, for tests of that key.
#pragma once

#include <string>

#include "config/readers/loader.h"
#include "config/text/error.h"

namespace satrelay::config {

// The gateway has one peer, which is called ship.
inline std::string with_line(const std::string& line) {
  return "ports: {lan: {interface: eth1}, wan: {interface: eth2}}\n"
         "gateway: {address: 192.0.2.1/30}\n"
         "peers: [{name: ship, address: 192.0.2.2, security: none}]\n"
         "links: {sat: {send_rate: 50Mbit, receive_rate: 10Mbit}}\n" +
         line + "\n";
}

// The message with which the loader refuses the configuration.
inline std::string error_with_line(const std::string& line) {
  try {
    parse_gateway(with_line(line), "g.yaml");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace satrelay::config
