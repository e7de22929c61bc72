#include "relay/version/version.h"

namespace satrelay {

std::string_view version() { return SATRELAY_VERSION; }

std::string version_and_commit() {
  std::string text(version());
  if (commit() != "none") text.append(" (").append(commit()).append(")");
  return text;
}

}  // namespace satrelay
