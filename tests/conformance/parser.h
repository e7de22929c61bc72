// Script files: header, then steps. Every mistake is told with file and line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/script.h"

namespace satrelay::conformance {

// `name` is what the table calls it, `file` what messages do. Throws ScriptError.
Script parse_script(const std::string& name, const std::string& file, std::string_view text);

// All FOLDER/TOPIC/NAME.tcp whose "TOPIC/NAME" contains `filter`, in order of name.
std::vector<Script> load_scripts(const std::string& folder, const std::string& filter);

}  // namespace satrelay::conformance
