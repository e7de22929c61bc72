// `satpanel user` and `satpanel token`: change the file of users.
#pragma once

#include "relay/satpanel/options.h"

namespace satrelay::panel {

// Returns the exit status of the program. Throws std::runtime_error with the reason.
int run_user_command(const UserOptions& options);

}  // namespace satrelay::panel
