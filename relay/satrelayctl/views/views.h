// The views of a gateway's stats socket that satrelayctl shows, one for each command.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "relay/client/reply.h"

namespace satrelay::ctl {

enum class Paging { kWhole, kPaged };
enum class Subject {
  kGateway,      // the gateway as a whole: a few entries, none about a single host
  kConnections,  // all connections
  kOne,          // one thing that the user names
};

struct View {
  // Name of satrelayctl's command, and of the socket's command below /satrelay/.
  std::string_view name;
  const char* help;
  Paging paging;
  Subject subject;
  std::string (*render)(const Json& reply, std::size_t width);
};

std::span<const View> views();

}  // namespace satrelay::ctl
