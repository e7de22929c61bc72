// The file of the gateway, and whether a gateway runs and has it.
#include <string>
#include <utility>

#include "relay/doctor/judgements.h"

namespace satrelay::ctl::doctor {
namespace {

using machine::Findings;
using ops::Severity;

// Files are written and read within the same second when a script starts a gateway.
constexpr std::uint64_t kClockSlackMs = 1000;

// When the gateway last read its files: at its start, or at the latest reload.
std::uint64_t last_read_ms(const Facts& facts) {
  const GatewayFacts& gateway = *facts.gateway;
  std::uint64_t read = facts.now_ms - std::min(facts.now_ms, count_of(gateway.status, "uptime_ms"));
  for (const Json& event : gateway.events) {
    if (has_word(event, "name", "reload_done")) {
      read = std::max(read, count_of(event, "time_ms"));
    }
  }
  return read;
}

// How a file has changed after the gateway has read it; empty if it has not.
std::string change_in(const ReadFile& file, std::uint64_t read_ms, std::uint64_t now_ms) {
  switch (file.change) {
    case FileChange::kNone:
      return "";
    case FileChange::kChanged:
      return "was changed after the gateway had read it";
    case FileChange::kGone:
      return "was removed after the gateway had read it";
    case FileChange::kUnknown:
      break;
  }
  // A time in the future is that of another clock, and says nothing about the order.
  if (file.changed_ms <= read_ms + kClockSlackMs || file.changed_ms > now_ms) return "";
  return "was changed " + milliseconds(file.changed_ms - read_ms) +
         " after the gateway had read it";
}

void judge_changes(const Facts& facts, Findings& findings) {
  const std::uint64_t read = last_read_ms(facts);
  for (const ReadFile& file : facts.file.read_files) {
    std::string seen = change_in(file, read, facts.now_ms);
    if (seen.empty()) continue;
    const bool is_gone = file.change == FileChange::kGone;
    findings.push_back(
        {.check = "file_changed",
         .severity = Severity::kWarning,
         .subject = file.path,
         .seen = std::move(seen),
         .cause = is_gone ? "the gateway still works with it, and refuses a reload and a start"
                          : "the gateway still works with the earlier content",
         .cure = is_gone ? "write the file again, and check it with satrelayd -c FILE --check"
                         : "satrelayctl reload; it lists the keys that need a restart instead",
         .page = "guide.md#reload"});
  }
}

void judge_last_reload(const Json& events, Findings& findings) {
  const Json* refused = nullptr;
  for (const Json& event : events) {
    if (has_word(event, "name", "reload_refused")) refused = &event;
    if (has_word(event, "name", "reload_done")) refused = nullptr;
  }
  if (refused == nullptr) return;
  findings.push_back({.check = "reload_refused",
                      .severity = Severity::kWarning,
                      .subject = "gateway",
                      .seen = "the latest reload was refused: " + text(*refused, "detail"),
                      .cause = "the gateway still works with the configuration before that reload",
                      .cure = "correct the file, check it with satrelayd -c FILE --check, and "
                              "reload again",
                      .page = machine::kPageOfNoStart,
                      .told_by = {.begin = "reload_refused", .end = {}, .subject = {}}});
}

void judge_rights(const Facts& facts, Findings& findings) {
  for (const ReadFile& file : facts.file.read_files) {
    if (file.is_readable) continue;
    findings.push_back(
        {.check = "file_unreadable",
         .severity = Severity::kWarning,
         .subject = file.path,
         .seen = "cannot be read by the user of the gateway, " + facts.user,
         .cause = "root reads it at the start, and the gateway then becomes that user: a reload "
                  "will be refused",
         .cure = "chgrp " + facts.user + ' ' + file.path + " && chmod 0640 " + file.path +
                 "; each folder above it needs the right x",
         .page = machine::kPageOfNoStart});
  }
}

void judge_silence(const Facts& facts, Findings& findings) {
  if (facts.socket_state == SocketState::kLeft) {
    findings.push_back({.check = "gateway_ended",
                        .severity = Severity::kError,
                        .subject = "gateway",
                        .seen = "has left its stats socket behind, and does not run",
                        .cause = "it was killed, has failed, or the machine has lost its power",
                        .cure = "journalctl -u satrelayd shows its last lines; start it again, by "
                                "satrelay-supervise or systemd",
                        .page = machine::kPageOfNoStart});
  }
  if (facts.socket_state == SocketState::kSilent) {
    findings.push_back({.check = "gateway_silent",
                        .severity = Severity::kError,
                        .subject = "gateway",
                        .seen = facts.gateway_trouble,
                        .cause = "the gateway hangs or is still starting, or this user may not ask",
                        .cure = "use sudo; if root has no answer either, restart the gateway",
                        .page = machine::kPageOfNoStart});
  }
}

}  // namespace

Findings judge_file(const Facts& facts) {
  Findings findings;
  if (!facts.file.mistake.empty()) {
    findings.push_back({.check = "file_wrong",
                        .severity = Severity::kError,
                        .subject = "file",
                        .seen = facts.file.mistake,
                        .cause = "the gateway refuses such a file at a start and at a reload",
                        .cure = "correct the place that is named; satrelayd -c FILE --check "
                                "checks it again",
                        .page = machine::kPageOfNoStart});
  }
  judge_rights(facts, findings);
  if (!facts.gateway) {
    judge_silence(facts, findings);
    return findings;
  }
  judge_changes(facts, findings);
  judge_last_reload(facts.gateway->events, findings);
  const std::string running = text(facts.gateway->status, "version");
  if (running != "-" && running != facts.version) {
    findings.push_back(
        {.check = "other_version",
         .severity = Severity::kWarning,
         .subject = "gateway",
         .seen = "satrelayd " + running + " runs, and satrelayctl is " + facts.version,
         .cause = "the programs were replaced while the gateway ran, or come from "
                  "different folders",
         .cure = "restart the gateway: satrelayctl drain ends it without the loss "
                 "of a flow",
         .page = "guide.md#install"});
  }
  return findings;
}

}  // namespace satrelay::ctl::doctor
