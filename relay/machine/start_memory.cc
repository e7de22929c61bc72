#include "relay/machine/start_memory.h"

#include "config/text/format.h"
#include "relay/gateway/flows/hosts/awaited_reports.h"
#include "relay/gateway/flows/table/memory_plan.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/recovery/journal_slices.h"
#include "relay/records/record_ring.h"

namespace satrelay::machine {
namespace {

std::string words_of(const StartMemory& needed) {
  const std::uint64_t mebibytes = (needed.beside.value() + (1U << 20) - 1) >> 20;
  return config::to_text(needed.arena) + " for stored bytes and " + std::to_string(mebibytes) +
         "MiB for packets, journal and records";
}

}  // namespace

ByteCount arena_of(const config::Gateway& config) {
  return ByteCount(config.worker.count * arena_of_worker(config).value());
}

ByteCount arena_of_worker(const config::Gateway& config) {
  return gateway::plan_memory(config, {.worker = 0, .workers = config.worker.count}).arena;
}

ByteCount journal_size(const config::Gateway& config) {
  if (config.journal == config::kNoJournal) return ByteCount(0);
  return ByteCount(gateway::journal_records(config.limits.flows, config.worker.count) *
                   gateway::FlowJournal::kRecordSize);
}

StartMemory start_memory(const config::Gateway& config, ByteCount packets) {
  const std::uint64_t journal = journal_size(config).value();
  // If there is a copy on a disk, JournalFile also keeps the contents of the copy in memory.
  const std::uint64_t copies = config.journal.empty() ? 1 : 2;
  const std::uint64_t rings =
      config.records.wanted()
          ? config.worker.count * (records::RecordRing::kMemory + gateway::AwaitedReports::kMemory)
          : 0;
  return {.arena = arena_of(config), .beside = packets + ByteCount(copies * journal + rings)};
}

std::optional<config::Contradiction> find_excess(const config::Gateway& config,
                                                 const StartMemory& needed,
                                                 const config::MachineMemory& machine) {
  const std::string excess = config::exceeds_total(needed.total(), machine);
  if (excess.empty()) return std::nullopt;
  const bool given = config.limits.memory != ByteCount(0);
  return config::Contradiction{
      .path = given ? "limits.memory" : "links",
      .message =
          words_of(needed) + " are " + excess +
          (given ? "; write less" : "; write less than their rates ask for in limits.memory")};
}

std::string lacking_now(const StartMemory& needed, const config::MachineMemory& machine) {
  const std::string excess = config::exceeds_available(needed.total(), machine);
  if (excess.empty()) return "";
  return words_of(needed) + " are " + excess + "; write less in limits.memory, or end what uses it";
}

}  // namespace satrelay::machine
