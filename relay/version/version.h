// The version of all programs. Only project() in the top meson.build defines it.
#pragma once

#include <string>
#include <string_view>

namespace satrelay {

std::string_view version();  // as "9.9.9"

// Returns the first 8 digits of the commit from which the program is built. ", changed" follows if
// files differed from the commit. Returns "none" if the program was not built in a clone.
std::string_view commit();

// A program, as the two functions above tell of it.
struct Build {
  std::string version;
  std::string commit;
  friend bool operator==(const Build&, const Build&) = default;
};
Build this_build();
std::string to_string(const Build& build);  // as version_and_commit()

std::string version_and_commit();  // "9.9.9 (93cef0d2)", or "9.9.9" without a commit

}  // namespace satrelay
