// Cores, memory, disks and the workers of the gateway.
#include <string>

#include "relay/doctor/judgements.h"
#include "relay/machine/machine_faults.h"
#include "relay/machine/placement.h"
#include "relay/text/numbers.h"

namespace satrelay::ctl::doctor {
namespace {

using machine::Finding;
using machine::Findings;
using ops::Severity;

constexpr std::uint64_t kStuckMs = 2000;
constexpr double kMuchMemory = 0.9;
// A core that others use for a third of the time lets the worker wait.
constexpr double kBusyCore = 0.33;

void judge_worker(const Json& status, Findings& findings) {
  const std::uint64_t age = count_of(status, "age_ms");
  if (age > kStuckMs) {
    findings.push_back({.check = "worker_stuck",
                        .severity = Severity::kError,
                        .subject = "gateway",
                        .seen = "its worker has reported nothing for " + milliseconds(age),
                        .cause = "another load has its core, or the worker hangs",
                        .cure = "top -H shows the load; if it stays so, restart the gateway",
                        .page = machine::kPageOfPassing,
                        .told_by = {.begin = "worker_stuck", .end = {}, .subject = {}}});
  }
  for (const auto& [number, worker] : member(status, "workers").items()) {
    const std::uint64_t dropped = count_of(worker, "given_dropped");
    if (dropped == 0) continue;
    findings.push_back(
        {.check = "worker_behind",
         .severity = Severity::kWarning,
         .subject = "worker " + number,
         .seen = std::to_string(dropped) + " frames for other workers were dropped since the start",
         .cause = "the other workers are behind: they share cores",
         .cure = "worker.cpus, with a core for each worker",
         .page = machine::kPageOfMachine,
         .told_by = {.begin = "worker_overloaded", .end = {}, .subject = {}}});
  }
}

void judge_arena(const Json& status, Findings& findings) {
  const std::uint64_t used = count_of(status, "arena_used_bytes");
  const std::uint64_t all = count_of(status, "arena_bytes");
  if (all == 0 || static_cast<double>(used) < kMuchMemory * static_cast<double>(all)) return;
  findings.push_back({.check = "memory_low",
                      .severity = Severity::kWarning,
                      .subject = "limits.memory",
                      .seen = text::binary_bytes(used) + " of " + text::binary_bytes(all) +
                              " for stored bytes are taken",
                      .cause = "more flows, or hosts that read slowly, than the memory is for",
                      .cure = "raise limits.memory, and restart",
                      .page = machine::kPageOfMachine,
                      .told_by = {.begin = "memory_low", .end = {}, .subject = {}}});
}

void judge_records(const Json& records, Findings& findings) {
  const auto judge_one = [&](const char* key, const char* trouble, const char* cure) {
    const std::string state = text(records, key);
    if (state != "failing" && state != "away") return;
    findings.push_back({.check = "records_failing",
                        .severity = Severity::kError,
                        .subject = std::string("records.") + key,
                        .seen = state + ": " + text(records, trouble),
                        .cause = "records of flows are lost meanwhile",
                        .cure = cure,
                        .page = machine::kPageOfMachine,
                        .told_by = {.begin = "records_failing", .end = {}, .subject = {}}});
  };
  judge_one("file", "file_trouble", "room on the disk, its folder, the rights of the user");
  judge_one("ipfix", "ipfix_trouble", "start the collector, or correct records.ipfix.collector");
}

void judge_disks(const Facts& facts, Findings& findings) {
  for (const DiskFacts& disk : facts.disks) {
    if (disk.available_bytes >= disk.needed_bytes) continue;
    findings.push_back(
        {.check = "disk_full",
         .severity = disk.available_bytes == 0 ? Severity::kError : Severity::kWarning,
         .subject = disk.key,
         .seen = disk.path + " has room for " + text::binary_bytes(disk.available_bytes) +
                 ", and the gateway may write " + text::binary_bytes(disk.needed_bytes) + " more",
         .cause = "other files fill the disk, or it is too small",
         .cure = "free some room, or write a path on another disk into " + disk.key,
         .page = machine::kPageOfMachine});
  }
}

// The load of a worker's core counts before the start only: later it is the worker's own.
void judge_loads(const Facts& facts, Findings& findings) {
  for (const unsigned cpu : facts.file.config->worker.cpus) {
    const auto load = facts.core_loads.find(cpu);
    if (load == facts.core_loads.end() || load->second < kBusyCore) continue;
    findings.push_back({.check = "core_busy",
                        .severity = Severity::kWarning,
                        .subject = "core " + std::to_string(cpu),
                        .seen = "is busy for " + text::percent(load->second, 0) +
                                " of the time, before the gateway runs",
                        .cause = "other programs run on the core of a worker, which waits for them",
                        .cure = "isolcpus=" + std::to_string(cpu) +
                                " nohz_full=" + std::to_string(cpu) +
                                " on the kernel's command line, or another "
                                "worker.cpu",
                        .page = "hardware.md#cores"});
  }
}

void judge_placement(const Facts& facts, Findings& findings) {
  for (std::string& advice : machine::advise(facts.file.config->worker, {}, facts.machine.cores)) {
    findings.push_back({.check = "core_advice",
                        .severity = Severity::kInfo,
                        .subject = "worker",
                        .seen = std::move(advice),
                        .cause = "the worker waits for what else runs on its core",
                        .cure = "worker.cpu, or the kernel's command line",
                        .page = "hardware.md#warnings-of-the-gateway"});
  }
}

}  // namespace

Findings judge_resources(const Facts& facts) {
  Findings findings;
  if (facts.file.config) {
    for (Finding& each : machine::judge_hardware(*facts.file.config, facts.machine)) {
      findings.push_back(std::move(each));
    }
    judge_placement(facts, findings);
    judge_disks(facts, findings);
    if (!facts.gateway) {
      judge_loads(facts, findings);
      if (facts.needed) {
        for (Finding& each :
             machine::judge_memory(*facts.file.config, *facts.needed, facts.machine.memory)) {
          findings.push_back(std::move(each));
        }
      }
    }
  }
  if (!facts.gateway) return findings;
  judge_worker(facts.gateway->status, findings);
  judge_arena(facts.gateway->status, findings);
  judge_records(facts.gateway->records, findings);
  return findings;
}

}  // namespace satrelay::ctl::doctor
