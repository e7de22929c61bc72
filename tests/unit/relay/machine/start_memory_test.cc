// A gateway that needs more memory than the machine has does not start.
#include "relay/machine/start_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "config/readers/loader.h"
#include "tests/unit/config/one_key.h"

namespace satrelay::machine::start_memory_test {
namespace {

constexpr ByteCount kPackets(50ULL << 20);

config::MachineMemory machine_with(std::uint64_t gibibytes, std::uint64_t unused) {
  return {.total = ByteCount(gibibytes << 30),
          .total_of = "this machine has",
          .available = ByteCount(unused << 30),
          .huge_total = ByteCount(0),
          .huge_available = ByteCount(0)};
}

std::string error_on(const config::MachineMemory& machine, const std::string& line) {
  const auto objection = [&](const config::Gateway& config) {
    std::vector<config::Contradiction> found;
    const auto excess = find_excess(config, start_memory(config, kPackets), machine);
    if (excess) found.push_back(*excess);
    return found;
  };
  try {
    config::parse_gateway(config::with_line(line), "g.yaml", objection);
  } catch (const config::ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(StartMemoryTest, WhatTheMachineWillNeverHaveIsAMistakeWithItsPlace) {
  const auto machine = machine_with(32, 1);
  EXPECT_EQ(error_on(machine, "limits: {memory: 31GiB}"), "no error");
  EXPECT_EQ(error_on(machine, "limits: {memory: 900GiB}"),
            "g.yaml:5:18: limits.memory: 900GiB for stored bytes and 54MiB for packets, journal "
            "and records are more than this machine has (32GiB); write less");
  EXPECT_NE(error_on(machine, "limits: {memory: 32GiB}"), "no error");
}

TEST(StartMemoryTest, SoIsWhatTheLinksAskFor) {
  const std::string error = error_on(machine_with(0, 0), "log: info");
  EXPECT_TRUE(error.starts_with("g.yaml:4:8: links: 256MiB for stored bytes")) << error;
}

TEST(StartMemoryTest, CountsTheJournalAndItsCopy) {
  const auto beside = [](const std::string& line) {
    return start_memory(config::parse_gateway(config::with_line(line), "g.yaml"), kPackets).beside -
           kPackets;
  };
  EXPECT_EQ(beside("limits: {flows: 1000000}"), ByteCount(64'000'000));
  EXPECT_EQ(beside("limits: {flows: 1000000}\njournal: /var/lib/flows"), ByteCount(128'000'000));
  EXPECT_EQ(beside("limits: {flows: 1000000}\njournal: none"), ByteCount(0));
}

TEST(StartMemoryTest, CountsTheRingsOfRecordsWhereTheyAreWanted) {
  const auto beside = [](const std::string& lines) {
    const auto config = config::parse_gateway(config::with_line(lines), "g.yaml");
    return start_memory(config, kPackets).beside.value();
  };
  // A worker's ring of records, and the records that wait for the far gateway's reports.
  constexpr std::uint64_t kRecords = 7'340'032 + 2'293'760;
  EXPECT_EQ(beside("records: {file: /tmp/flows}") - beside("log: info"), kRecords);
  EXPECT_EQ(
      beside("records: {file: /tmp/flows}\nworker: {count: 4}") - beside("worker: {count: 4}"),
      4 * kRecords);
}

TEST(StartMemoryTest, WhatOthersUseIsLackingNow) {
  const auto config = config::parse_gateway(config::with_line("limits: {memory: 4GiB}"), "g.yaml");
  const StartMemory needed = start_memory(config, kPackets);
  EXPECT_EQ(lacking_now(needed, machine_with(32, 5)), "");
  EXPECT_EQ(
      lacking_now(needed, machine_with(32, 4)),
      "4GiB for stored bytes and 54MiB for packets, journal and records are more than is "
      "unused of what this machine has (4GiB of 32GiB); write less in limits.memory, or end what "
      "uses it");
}

}  // namespace
}  // namespace satrelay::machine::start_memory_test
