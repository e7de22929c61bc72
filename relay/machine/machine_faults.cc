#include "relay/machine/machine_faults.h"

#include <iterator>
#include <utility>

#include "relay/machine/interface_faults.h"
#include "relay/machine/placement.h"

namespace satrelay::machine {
namespace {

using ops::Severity;

void append(Findings& findings, Findings more) {
  findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
}

bool has_pci(const config::Gateway& config) {
  return config.lan.driver == config::Driver::kPci || config.wan.driver == config::Driver::kPci;
}

}  // namespace

Findings judge_hardware(const config::Gateway& config, const MachineFacts& facts) {
  Findings findings;
  if (const auto objection = object_to_cores(config.worker, facts.cores)) {
    findings.push_back({.check = "core_absent",
                        .severity = Severity::kError,
                        .subject = objection->path,
                        .seen = objection->message,
                        .cause = "the file is for another machine, or the core is switched off",
                        .cure = "lscpu -e lists the cores of this machine",
                        .page = "hardware.md#cores"});
  }
  if (has_pci(config) && facts.memory.huge_total == ByteCount(0)) {
    findings.push_back({.check = "no_hugepages",
                        .severity = Severity::kError,
                        .subject = "ports",
                        .seen = "a port has pci, and this machine has no hugepages",
                        .cause = "a PCI device needs hugepages for its packets",
                        .cure = "SATRELAY_HUGEPAGES=512 deploy/setup.sh reserves them",
                        .page = "hardware.md#when-it-does-not-work"});
  }
  return findings;
}

Findings judge_memory(const config::Gateway& config, const StartMemory& needed,
                      const config::MachineMemory& memory) {
  Findings findings;
  if (const auto excess = find_excess(config, needed, memory)) {
    findings.push_back({.check = "memory_too_small",
                        .severity = Severity::kError,
                        .subject = excess->path,
                        .seen = excess->message,
                        .cause = "the rates and round trips of the links ask for more memory than "
                                 "the machine can ever give",
                        .cure = "lower limits.memory, or add memory",
                        .page = kPageOfNoStart});
    return findings;
  }
  const std::string lack = lacking_now(needed, memory);
  if (lack.empty()) return findings;
  findings.push_back({.check = "memory_in_use",
                      .severity = Severity::kError,
                      .subject = "limits.memory",
                      .seen = lack,
                      .cause = "other programs use the memory that the gateway takes at its start",
                      .cure = "ps -eo rss,comm --sort=-rss shows these programs",
                      .page = kPageOfNoStart});
  return findings;
}

Findings judge_before_start(const config::Gateway& config, const StartMemory& needed,
                            const MachineFacts& facts) {
  Findings findings;
  if (facts.lan) {
    append(findings, judge_interface("lan", config.lan, *facts.lan, Use::kBeforeStart));
  }
  if (facts.wan) {
    append(findings, judge_interface("wan", config.wan, *facts.wan, Use::kBeforeStart));
  }
  if (config.lan_follows_wan && facts.lan && facts.lan->has_address) {
    findings.push_back(
        {.check = "lan_has_management",
         .severity = ops::Severity::kWarning,
         .subject = "port lan",
         .seen = config.lan.interface + " has an address of this machine",
         .cause = "lan_follows_wan switches it off while port wan has no link: this "
                  "machine is then out of reach there",
         .cure = "manage the machine by another interface, or leave lan_follows_wan out",
         .page = kPageOfPassing});
  }
  append(findings, judge_hardware(config, facts));
  append(findings, judge_memory(config, needed, facts.memory));
  return findings;
}

}  // namespace satrelay::machine
