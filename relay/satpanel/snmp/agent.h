// Answers for SATRELAY-MIB, as a subagent of this machine's snmpd (AgentX, RFC 2741), and notifies
// of alarms. In a thread of its own, from what the observer has seen: the gateway is never asked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "relay/satpanel/observer.h"

namespace satrelay::panel {

class SnmpAgent {
 public:
  // Where snmpd listens if its configuration says nothing else.
  static constexpr const char* kUsualSocket = "/var/agentx/master";

  enum class Traps : std::uint8_t {
    kOnlyAlarms,  // what begins to be wrong, becomes worse or better, and ends
    kAllEvents,   // all else that the gateway tells, too
  };

  // `socket`: a path, or as snmpd.conf's agentXSocket. snmpd may be away; it is looked for again
  // and again. There is one of this class in a program. Throws std::runtime_error.
  SnmpAgent(const std::string& socket, const std::string& gateway, Traps traps,
            const Observer& observer);
  SnmpAgent(const SnmpAgent&) = delete;
  SnmpAgent& operator=(const SnmpAgent&) = delete;
  ~SnmpAgent();

  // There are further events. Any thread; never waits.
  void take_news();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace satrelay::panel
