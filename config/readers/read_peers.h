// The part `peers` of gateway.yaml.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<Peer>& peer_keys();

// `common` is the `security` at the top of the file. `user` is the `reader` of read_psk_file().
std::vector<Peer> read_peers(const Value& value, const std::vector<Link>& links,
                             const std::optional<Security>& common, const std::string& user);

}  // namespace satrelay::config
