#include "relay/version/version.h"

namespace satrelay {

std::string_view version() { return SATRELAY_VERSION; }

Build this_build() { return {.version = std::string(version()), .commit = std::string(commit())}; }

std::string to_string(const Build& build) {
  return build.commit == "none" ? build.version : build.version + " (" + build.commit + ")";
}

std::string version_and_commit() { return to_string(this_build()); }

}  // namespace satrelay
