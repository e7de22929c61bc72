// Reads the answers that are about files: the folder and the secret. They are refused if a file
// cannot be written there later.
#pragma once

#include <string>

#include "config/readers/document.h"
#include "relay/satrelayctl/init/answers.h"
#include "relay/satrelayctl/init/setting.h"

namespace satrelay::ctl::init {

// Refuses `value` if `path` exists and may not be replaced.
void refuse_existing(const config::Value& value, const std::string& path, const Setting& setting);
void read_folder(const config::Value& value, Answers& answers, const Setting& setting);
// "make", or the path of a secret that is in the folder already.
std::string usual_secret(const Answers& answers);
void read_secret(const config::Value& value, Answers& answers, const Setting& setting);

}  // namespace satrelay::ctl::init
