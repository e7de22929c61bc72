// The views of a gateway that satrelayctl can show. Each view is one command of satrelayctl.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "relay/client/reply.h"

namespace satrelay::ctl {

enum class Paging { kWhole, kPaged };
enum class Subject {
  kGateway,      // the gateway as a whole: few entries, and none about a single host
  kConnections,  // all connections
  kOne,          // one object that the user names
};

struct View {
  // Name of the command of satrelayctl, and of the stats socket's command below /satrelay/.
  std::string_view name;
  const char* help;
  Paging paging;
  Subject subject;
  std::string (*render)(const Json& reply, std::size_t width);
};

std::span<const View> views();

}  // namespace satrelay::ctl
