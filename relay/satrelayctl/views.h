// What satrelayctl shows of a gateway's stats socket, a command each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "relay/client/reply.h"

namespace satrelay::ctl {

enum class Paging { kWhole, kPaged };

struct View {
  std::string_view name;  // of the command of satrelayctl, and of the socket's below /satrelay/
  const char* help;
  Paging paging;
  std::string (*render)(const Json& reply);
};

std::span<const View> views();

}  // namespace satrelay::ctl
