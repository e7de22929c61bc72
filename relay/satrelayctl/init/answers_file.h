// The file of answers, from which `satrelayctl init --answers FILE` takes all answers, and its
// template.
#pragma once

#include <filesystem>
#include <string>

#include "relay/satrelayctl/init/answers.h"
#include "relay/satrelayctl/init/questions.h"

namespace satrelay::ctl::init {

// Reads a map of answers. A key that is missing has its default. Throws ConfigError with the file,
// the line and the column of a mistake.
Answers read_answers_file(const std::filesystem::path& file, const Setting& setting);
// Reads `text` instead of a file. Messages name `file`.
Answers parse_answers(const std::string& text, const std::string& file, const Setting& setting);
// All keys with their help and their defaults on this machine, as YAML.
std::string answers_template(const Setting& setting);

}  // namespace satrelay::ctl::init
