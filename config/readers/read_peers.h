// The part `peers` of gateway.yaml.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<Peer>& peer_keys();

// `common` is the value of `security` at the top of the file, which peers without a `security` of
// their own use. `reader` is as in read_security(). `links` is empty if the links have a mistake.
std::vector<Peer> read_peers(const Value& value, const std::vector<Link>& links,
                             const std::optional<Security>& common,
                             const std::optional<std::string>& reader);

}  // namespace satrelay::config
