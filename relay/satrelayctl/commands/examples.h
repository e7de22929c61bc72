// The text below the help of satrelayctl. The manual page shows the examples, too.
#pragma once

namespace satrelay::ctl {

inline constexpr const char* kExamples =
    "These options may also follow the command.\n"
    "\n"
    "Examples:\n"
    "  satrelayctl status\n"
    "  satrelayctl flows --watch=5\n"
    "  satrelayctl explain 192.0.2.10 198.51.100.7:443\n"
    "  satrelayctl capture --port lan --filter 'tcp port 443' --write lan.pcapng\n"
    "  satrelayctl capacity sat send 12Mbit\n"
    "  satrelayctl --config /etc/satrelay/gateway.yaml reload";

}  // namespace satrelay::ctl
