// Every key of gateway.yaml and of link.yaml with its path, as docs/configuration.md describes
// them. `satrelayd --keys` prints the keys of gateway.yaml.
#pragma once

#include <string>
#include <vector>

#include "config/keys/key.h"

namespace satrelay::config {

struct ListedKey {
  std::string path;      // "links.NAME.send_rate", "rules[].match.port"
  std::string fallback;  // the default as text; empty if there is none
  std::string allowed;
  std::string unit;  // empty if there is none
  bool required = false;
  Reload reload = Reload::kRestart;
  std::string help;
  std::string since;

  // The default and the allowed values as text: "7878 (default), 1 to 65535".
  std::string values() const;
};

// All keys, in the order of the file.
std::vector<ListedKey> gateway_key_list();
std::vector<ListedKey> link_key_list();

// Returns a table, for people to read, of the keys with a path that begins with `under`.
std::string key_table(const std::vector<ListedKey>& keys, std::string_view under);

}  // namespace satrelay::config
