// Makes the configuration files of both gateways from the answers.
#pragma once

#include <string>

#include "config/model/schema.h"
#include "relay/satrelayctl/init/answers.h"

namespace satrelay::ctl::init {

// The text of gateway.yaml, with comments. `psk_file` is the path that the file names, unless the
// answers say that there is no secret.
std::string configuration_text(const Answers& answers, Side side, const std::string& psk_file);

// The parts of a configuration that the answers so far determine, for
// config::find_contradictions(). The gateway's own address must be known. The peer is missing as
// long as its address, or the way to it, is not known.
config::Gateway configuration_so_far(const Answers& answers, Side side);

// Writes a text as a scalar of YAML, in quotes where YAML needs them.
std::string scalar(const std::string& text);

}  // namespace satrelay::ctl::init
