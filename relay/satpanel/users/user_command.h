// `satpanel user` and `satpanel token`: changes the file of users.
#pragma once

#include "relay/satpanel/options.h"

namespace satrelay::panel {

// Returns the exit status of the program. Throws std::runtime_error that says what is wrong.
int run_user_command(const UserOptions& options);

}  // namespace satrelay::panel
