// Script files: a header, then steps. Every mistake is reported with its file and line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/script.h"

namespace satrelay::conformance {

// `name` is for the table, `file` for messages. Throws ScriptError.
Script parse_script(const std::string& name, const std::string& file, std::string_view text);

// All FOLDER/TOPIC/NAME.tcp with `filter` in "TOPIC/NAME", in order of name.
std::vector<Script> load_scripts(const std::string& folder, const std::string& filter);

}  // namespace satrelay::conformance
