// The version of all programs: project() in the first meson.build has it, and no other file.
#pragma once

#include <string>
#include <string_view>

namespace satrelay {

std::string_view version();  // as "9.9.9"

// The first 8 digits of the commit that the program is built from, with ", changed" behind them if
// files were different. "none" if the program is built outside of a clone.
std::string_view commit();

std::string version_and_commit();  // "9.9.9 (93cef0d2)", or "9.9.9" without a commit

}  // namespace satrelay
