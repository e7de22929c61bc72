// What satrelayctl shows of a gateway's stats socket, a command each.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "relay/client/reply.h"

namespace satrelay::ctl {

enum class Paging { kWhole, kPaged };
enum class Subject {
  kGateway,      // the gateway as a whole: of a few entries, and of no single host
  kConnections,  // all of them
  kOne,          // what is asked about
};

struct View {
  std::string_view name;  // of the command of satrelayctl, and of the socket's below /satrelay/
  const char* help;
  Paging paging;
  Subject subject;
  std::string (*render)(const Json& reply, std::size_t width);
};

std::span<const View> views();

}  // namespace satrelay::ctl
