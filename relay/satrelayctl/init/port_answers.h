// Reads the answers that are about ports, and proposes ports.
#pragma once

#include <string>

#include "config/readers/document.h"
#include "relay/satrelayctl/init/answers.h"
#include "relay/satrelayctl/init/setting.h"

namespace satrelay::ctl::init {

// The interface or the PCI address of a port.
std::string device_of(const config::Port& port);

// The ports of this machine. They refuse a port that this machine does not have, or that it needs
// itself.
std::string usual_lan(const Answers& answers, const Setting& setting);
void read_lan(const config::Value& value, Answers& answers, const Setting& setting);
std::string usual_wan(const Answers& answers, const Setting& setting);
void read_wan(const config::Value& value, Answers& answers, const Setting& setting);

// The ports of the other site, which this machine cannot check.
void read_peer_lan(const config::Value& value, Answers& answers, const Setting& setting);
void read_peer_wan(const config::Value& value, Answers& answers, const Setting& setting);

}  // namespace satrelay::ctl::init
