#include "relay/satrelayd/commands/operations.h"

#include <utility>
#include <vector>

#include "relay/dpdk/loop/clock.h"
#include "relay/dpdk/loop/reload_signal.h"
#include "relay/dpdk/loop/stop_signal.h"
#include "relay/ops/log/log.h"
#include "relay/satrelayd/commands/control_command.h"
#include "relay/satrelayd/commands/refused_lines.h"
#include "relay/satrelayd/commands/setting.h"
#include "relay/satrelayd/reporting/reload_event.h"

namespace satrelay::satrelayd {
namespace {

void start_drain(const StartDrain& command, Drain& drain) {
  if (drain.is_under_way()) {
    dpdk::StopSignal::request();
  } else {
    drain.begin(command.timeout, dpdk::now());
  }
}

void start_reload(const std::optional<ops::Caller>& caller, Operations& operations) {
  const bool is_next = operations.reload.is_reading();
  (is_next ? operations.next_reload_caller : operations.reload_caller) = caller;
  operations.reload.begin();
}

// Applies a command that changes something.
std::string apply_to(Operations& operations, const ControlCommand& command,
                     const ops::Caller& caller) {
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
  if (std::holds_alternative<StartReload>(command)) start_reload(caller, operations);
  return "ok\n";
}

ops::Event event_of(Setting before, Setting after, const ControlCommand& command,
                    const ops::Caller& caller) {
  ops::Event event{.kind = after.kind,
                   .subject = std::move(after.subject),
                   .detail = "",
                   .caller = caller,
                   .before = std::move(before.value),
                   .after = std::move(after.value)};
  const auto* drain = std::get_if<StartDrain>(&command);
  if (drain == nullptr) return event;
  if (event.before == event.after) {
    event.kind = ops::EventKind::kDrainOver;
    event.detail = "a second drain";
  } else if (!drain->timeout.is_infinite()) {
    event.detail = std::to_string(drain->timeout.to_milliseconds() / 1000) + " s at most";
  }
  return event;
}

std::string carry_out(const ControlCommand& command, const ops::Caller& caller,
                      Operations& operations) {
  auto before = setting_of(command, operations.engines, dpdk::now());
  std::string answer = apply_to(operations, command, caller);
  if (answer != "ok\n" || !before) return answer;
  auto after = setting_of(command, operations.engines, dpdk::now());
  // If the command has set the value that was already set, nothing has changed, and there is no
  // event. A second drain is an exception, since it ends the first drain at once.
  if (!after || (after->value == before->value && !std::holds_alternative<StartDrain>(command))) {
    return answer;
  }
  operations.tell(event_of(std::move(*before), std::move(*after), command, caller));
  return answer;
}

// Applies the new configuration. Returns false if not all workers could be stopped.
bool take_over(const Reload::Outcome& outcome, Operations& operations) {
  const WorkerPool::Pause rest(*operations.worker_pool);
  if (!rest.is_complete()) return false;
  // Read the clock again: the other workers have continued since this round began.
  operations.engines.reconfigure(*outcome.configuration, dpdk::now(), outcome.prepared);
  operations.reload.took_over(outcome);
  return true;
}

void tell_of_reload(const Reload::Outcome& outcome, Operations& operations) {
  operations.took_over(outcome.taken_over);
  ops::set_log_level(outcome.configuration->log_level);
  for (const std::string& warning : outcome.configuration->remarks.warnings)
    ops::log_warning(warning);
  ReloadTold told = told_of(outcome.changes);
  for (const std::string& line : told.lines) ops::log_info(line);
  operations.tell({.kind = ops::EventKind::kReloadDone,
                   .subject = "gateway",
                   .detail = std::move(told.detail),
                   .caller = operations.reload_caller,
                   .before = std::move(told.before),
                   .after = std::move(told.after)});
}

// The reason for a refusal: the line of the only mistake, or the lines of all mistakes. The server
// sends an answer at once or not at all, so the lines must fit into the buffer of a socket.
std::string in_lines(const std::string& error, const std::vector<std::string>& mistakes) {
  constexpr std::size_t kMost = 64 << 10;
  if (mistakes.empty()) return error;
  std::string text;
  for (const std::string& line : mistakes) {
    if (text.size() + line.size() > kMost)
      return text.append("\nsatrelayd --check tells the others");
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

void tell_of_refusal(std::string why, ReloadRefusal refusal, Operations& operations) {
  operations.tell({.kind = ops::EventKind::kReloadRefused,
                   .subject = "gateway",
                   .detail = std::move(why),
                   .caller = operations.reload_caller,
                   .advice = advice_for(refusal)});
}

ops::ControlServer::Answer show(const ControlCommand& command, const Operations& operations) {
  if (std::holds_alternative<ShowHelp>(command)) return {.text = ops::control_help()};
  if (std::holds_alternative<Quit>(command)) return {.text = "ok\n", .close = true};
  return {.text = operations.reload.is_reading() ? "reading\n" : operations.reload_result + "\n"};
}

}  // namespace

ops::ControlServer::Answer answer(std::string_view line, const ops::Caller& caller,
                                  Operations& operations) {
  const ControlParse parse = parse_control_command(line);
  if (!parse.command) return {.text = "error: " + parse.error + "\n"};
  if (parse.right == ops::Right::kLook) return show(*parse.command, operations);
  const WorkerPool::Pause rest(*operations.worker_pool);
  if (!rest.is_complete()) return {.text = "error: a worker does not answer; see the log\n"};
  return {.text = carry_out(*parse.command,
                            {.user = caller.user, .on_behalf_of = parse.on_behalf_of}, operations)};
}

bool look_after_drain(Operations& operations, Instant now) {
  if (!operations.drain.is_due(now)) return false;
  const WorkerPool::Pause rest(*operations.worker_pool);
  // If a worker hangs, its flows do not end, and only the timeout can end the drain.
  const bool is_over =
      rest.is_complete() ? operations.drain.is_over(now) : operations.drain.is_over_blindly(now);
  if (is_over) operations.tell({ops::EventKind::kDrainOver, "gateway", ""});
  return is_over;
}

void look_after_reload(Operations& operations) {
  if (dpdk::ReloadSignal::take()) start_reload(std::nullopt, operations);
  const auto outcome = operations.reload.poll();
  if (!outcome) return;
  std::string error = outcome->error;
  ReloadRefusal refusal = outcome->refusal;
  if (outcome->configuration && !take_over(*outcome, operations)) {
    error = "a worker does not answer; see the log";
    refusal = ReloadRefusal::kWorkerStuck;
  }
  // Writing the log may take long. So do it only here, after the workers have started again.
  if (error.empty()) {
    operations.reload_result = "ok";
    tell_of_reload(*outcome, operations);
  } else {
    const std::vector<std::string>& mistakes = outcome->mistakes;
    operations.reload_result = "error: " + in_lines(error, mistakes);
    // An event has room for one line, and may cut it, so the log has more lines.
    for (const std::string& line : refused_lines(mistakes)) ops::log_error(line);
    if (!mistakes.empty()) error = mistakes.back() + "; the first: " + mistakes.front();
    tell_of_refusal(std::move(error), refusal, operations);
  }
  operations.reload_caller = std::exchange(operations.next_reload_caller, std::nullopt);
}

}  // namespace satrelay::satrelayd
