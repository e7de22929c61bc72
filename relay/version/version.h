// The version of all programs. Only project() in the top meson.build defines it.
#pragma once

#include <string>
#include <string_view>

namespace satrelay {

std::string_view version();  // as "9.9.9"

// The first 8 digits of the commit that the program is built from, followed by ", changed" if files
// differed from the commit. "none" if the program is built outside of a clone.
std::string_view commit();

std::string version_and_commit();  // "9.9.9 (93cef0d2)", or "9.9.9" without a commit

}  // namespace satrelay
