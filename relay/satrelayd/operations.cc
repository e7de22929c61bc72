#include "relay/satrelayd/operations.h"

#include "relay/dpdk/clock.h"
#include "relay/dpdk/reload_signal.h"
#include "relay/dpdk/stop_signal.h"
#include "relay/ops/log.h"
#include "relay/satrelayd/control_command.h"

namespace satrelay::satrelayd {
namespace {

void start_drain(const StartDrain& command, Drain& drain) {
  if (drain.is_under_way()) {
    dpdk::StopSignal::request();
  } else {
    drain.begin(command.timeout, dpdk::now());
  }
}

// Of those that are more than words.
std::string carry_out(const ControlCommand& command, Operations& operations) {
  if (const auto* capacity = std::get_if<SetCapacity>(&command)) {
    return apply(*capacity, operations.engines, dpdk::now());
  }
  if (const auto* rate = std::get_if<SetPeerRate>(&command)) {
    return apply(*rate, operations.engines, dpdk::now());
  }
  if (const auto* set = std::get_if<SetRule>(&command)) return apply(*set, operations.engines);
  if (const auto* set = std::get_if<SetClass>(&command)) {
    return apply(*set, operations.engines, dpdk::now());
  }
  if (const auto* bypass = std::get_if<SetBypass>(&command)) {
    return apply(*bypass, operations.engines, dpdk::now());
  }
  if (const auto* drain = std::get_if<StartDrain>(&command)) start_drain(*drain, operations.drain);
  if (std::holds_alternative<StartReload>(command)) operations.reload.begin();
  return "ok\n";
}

}  // namespace

ops::ControlServer::Answer answer(std::string_view line, Operations& operations) {
  const ControlParse parse = parse_control_command(line);
  if (!parse.command) return {.text = "error: " + parse.error + "\n"};
  if (std::holds_alternative<ShowHelp>(*parse.command)) return {.text = ops::control_help()};
  if (std::holds_alternative<Quit>(*parse.command)) return {.text = "ok\n", .close = true};
  if (std::holds_alternative<ShowReload>(*parse.command)) {
    return {.text = operations.reload.is_reading() ? "reading\n" : operations.reload_result + "\n"};
  }
  const Crew::Rest rest(*operations.crew);
  if (!rest.is_complete()) return {.text = "error: a worker does not answer; see the log\n"};
  const std::string text = carry_out(*parse.command, operations);
  if (text == "ok\n" && parse.right == ops::Right::kChange) {
    ops::log_info("control: " + std::string(line));
  }
  return {.text = text};
}

bool look_after_drain(Operations& operations, Instant now) {
  if (!operations.drain.is_due(now)) return false;
  const Crew::Rest rest(*operations.crew);
  // A worker that hangs has flows that do not end.
  return rest.is_complete() ? operations.drain.is_over(now) : operations.drain.is_over_blindly(now);
}

void look_after_reload(Operations& operations) {
  if (dpdk::ReloadSignal::take()) operations.reload.begin();
  const auto outcome = operations.reload.poll();
  if (!outcome) return;
  const Crew::Rest rest(*operations.crew);
  if (!rest.is_complete()) {
    operations.reload_result = "error: a worker does not answer; see the log";
  } else if (outcome->configuration) {
    // The other workers have gone on since this round began.
    operations.engines.reconfigure(*outcome->configuration, dpdk::now(), outcome->prepared);
    ops::set_log_level(outcome->configuration->log_level);
    operations.reload_result = "ok";
    for (const std::string& warning : outcome->configuration->warnings) ops::log_warning(warning);
    ops::log_info("reload: taken over");
  } else {
    operations.reload_result = "error: " + outcome->error;
    ops::log_error("reload: refused, nothing has changed: " + outcome->error);
  }
}

}  // namespace satrelay::satrelayd
