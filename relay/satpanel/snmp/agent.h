// Answers for SATRELAY-MIB as a subagent of this machine's snmpd (AgentX, RFC 2741), and sends
// notifications of alarms. Runs in its own thread, on the observer's readings: it never asks the
// gateway.
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

  // `socket`: a path, or a value of agentXSocket in snmpd.conf. If snmpd is away, the agent tries
  // to reach it every few seconds. A program may have only one SnmpAgent. Throws
  // std::runtime_error.
  SnmpAgent(const std::string& socket, const std::string& gateway, Traps traps,
            const Observer& observer);
  SnmpAgent(const SnmpAgent&) = delete;
  SnmpAgent& operator=(const SnmpAgent&) = delete;
  ~SnmpAgent();

  // Tells the agent that there are new events. Any thread; never waits.
  void take_news();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace satrelay::panel
