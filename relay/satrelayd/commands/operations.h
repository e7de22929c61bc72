// The operator's commands to a running gateway, and their execution.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "pep/base/time.h"
#include "relay/gateway/gateway.h"
#include "relay/ops/control/caller.h"
#include "relay/ops/control/control_server.h"
#include "relay/ops/events/event.h"
#include "relay/satrelayd/commands/drain.h"
#include "relay/satrelayd/commands/reload.h"
#include "relay/satrelayd/workers/engines.h"
#include "relay/satrelayd/workers/worker_pool.h"

namespace satrelay::satrelayd {

struct Operations {
  Engines& engines;
  std::optional<WorkerPool>& worker_pool;  // set once the program runs
  Drain drain;
  Reload reload;
  std::function<void(ops::Event)> tell;
  std::function<void(Reload::Running)> took_over;  // is called before the reload is told
  std::string reload_result = "error: nothing was reloaded yet";
  // User that requested the present reload. nullopt if SIGHUP requested it.
  std::optional<ops::Caller> reload_caller = {};
  // User that requested another reload during the present one.
  std::optional<ops::Caller> next_reload_caller = {};
};

// Answers a line of the control socket.
ops::ControlServer::Answer answer(std::string_view line, const ops::Caller& caller,
                                  Operations& operations);

// Checks the drain, if there is one. Returns true once it is over.
bool look_after_drain(Operations& operations, Instant now);

// Begins a reload if SIGHUP has arrived. If a configuration has been read since the last call,
// applies it.
void look_after_reload(Operations& operations);

}  // namespace satrelay::satrelayd
