// Reads the answers that are about addresses, and proposes addresses. Each answer is checked
// together with the earlier ones, as far as they are known.
#pragma once

#include <string>

#include "config/readers/document.h"
#include "relay/satrelayctl/init/answers.h"
#include "relay/satrelayctl/init/setting.h"

namespace satrelay::ctl::init {

std::string usual_address(const Answers& answers, const Setting& setting);
void read_own_address(const config::Value& value, Answers& answers, const Setting& setting);

// "" if the subnet of this gateway has no other address to propose.
std::string usual_peer_address(const Answers& answers, const Setting& setting);
void read_peer_address(const config::Value& value, Answers& answers, const Setting& setting);

// Whether one router or several are between the two gateways, which then need a next hop each.
bool needs_routers(const Answers& answers, const Setting& setting);
std::string usual_router(const Answers& answers, const Setting& setting);
void read_next_hop(const config::Value& value, Answers& answers, const Setting& setting);
void read_peer_next_hop(const config::Value& value, Answers& answers, const Setting& setting);

std::string usual_terminal_hosts(const Answers& answers, const Setting& setting);
void read_terminal_hosts(const config::Value& value, Answers& answers, const Setting& setting);

}  // namespace satrelay::ctl::init
