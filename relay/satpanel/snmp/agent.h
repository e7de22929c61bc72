// Serves SATRELAY-MIB as a subagent of this machine's snmpd (AgentX, RFC 2741), and sends
// notifications of alarms. Runs in a thread of its own. It uses the observer's readings, and never
// asks the gateway.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "relay/satpanel/observer.h"

namespace satrelay::panel {

class SnmpAgent {
 public:
  // The socket at which snmpd listens by default.
  static constexpr const char* kUsualSocket = "/var/agentx/master";

  enum class Traps : std::uint8_t {
    kOnlyAlarms,  // alarms that begin, become worse or better, or end
    kAllEvents,   // also all other events of the gateway
  };

  // `socket` is a path, or a value as for agentXSocket in snmpd.conf. If snmpd is not running, the
  // agent tries to connect every few seconds. A program may have only one SnmpAgent. Throws
  // std::runtime_error.
  SnmpAgent(const std::string& socket, const std::string& gateway, Traps traps,
            const Observer& observer);
  SnmpAgent(const SnmpAgent&) = delete;
  SnmpAgent& operator=(const SnmpAgent&) = delete;
  ~SnmpAgent();

  // Tells the agent that there are new events, and never blocks. May be called from any thread.
  void take_news();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace satrelay::panel
