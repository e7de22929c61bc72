// Reads the answers that are about the link, and proposes rates that were measured.
#pragma once

#include <string>

#include "config/readers/document.h"
#include "relay/satrelayctl/init/answers.h"
#include "relay/satrelayctl/init/setting.h"

namespace satrelay::ctl::init {

void read_overhead(const config::Value& value, Answers& answers, const Setting& setting);

std::string usual_capacity(const Answers& answers, const Setting& setting);
void read_capacity(const config::Value& value, Answers& answers, const Setting& setting);

// "" if the rate must be known and was not measured.
std::string usual_send_rate(const Answers& answers, const Setting& setting);
void read_send_rate(const config::Value& value, Answers& answers, const Setting& setting);
std::string usual_receive_rate(const Answers& answers, const Setting& setting);
void read_receive_rate(const config::Value& value, Answers& answers, const Setting& setting);

}  // namespace satrelay::ctl::init
