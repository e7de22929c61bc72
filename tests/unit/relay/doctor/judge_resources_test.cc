#include <gmock/gmock.h>

#include "tests/unit/relay/doctor/sample_facts.h"

namespace satrelay::ctl::doctor::judge_resources_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(JudgeResources, AHealthyPairHasNoFinding) {
  EXPECT_THAT(judge_resources(sample_facts()), IsEmpty());
  EXPECT_THAT(judge_resources(sample_facts_of_file()), IsEmpty());
}

TEST(JudgeResources, AWorkerThatHangs) {
  Facts facts = sample_facts();
  facts.gateway->status["age_ms"] = 4000U;
  EXPECT_EQ(find_check(judge_resources(facts), "worker_stuck").severity, ops::Severity::kError);
}

TEST(JudgeResources, WorkersThatShareACore) {
  Facts facts = sample_facts();
  facts.gateway->status["workers"]["1"] = {{"given_dropped", 6U}};
  EXPECT_EQ(find_check(judge_resources(facts), "worker_behind").subject, "worker 1");
}

TEST(JudgeResources, MemoryIsNearlyTaken) {
  Facts facts = sample_facts();
  facts.gateway->status["arena_used_bytes"] = 899U;
  EXPECT_THAT(judge_resources(facts), IsEmpty());
  facts.gateway->status["arena_used_bytes"] = 900U;
  EXPECT_THAT(names_of(judge_resources(facts)), ElementsAre("memory_low"));
}

TEST(JudgeResources, MemoryThatAStartWouldNotFind) {
  Facts facts = sample_facts_of_file();
  facts.needed =
      machine::StartMemory{.arena = ByteCount(std::uint64_t{5} << 30), .beside = ByteCount(0)};
  EXPECT_THAT(names_of(judge_resources(facts)), ElementsAre("memory_in_use"));
  // The gateway that runs has the memory already.
  facts.gateway = sample_gateway();
  EXPECT_THAT(judge_resources(facts), IsEmpty());
}

TEST(JudgeResources, TheCoreOfAWorker) {
  Facts facts = sample_facts_of_file("worker: {cpu: 3}");
  facts.machine.cores.isolated = facts.machine.cores.tickless = {3};
  facts.core_loads = {{2, 0.9}, {3, 0.1}};
  EXPECT_THAT(judge_resources(facts), IsEmpty());
  facts.core_loads[3] = 0.5;
  const auto finding = find_check(judge_resources(facts), "core_busy");
  EXPECT_THAT(finding.seen, HasSubstr("50%"));
  facts.machine.cores.online = {0, 1};
  EXPECT_THAT(names_of(judge_resources(facts)), ElementsAre("core_absent", "core_busy"));
}

TEST(JudgeResources, AdviceAboutACoreIsNoFault) {
  Facts facts = sample_facts("worker: {cpu: 3}");
  EXPECT_EQ(find_check(judge_resources(facts), "core_advice").severity, ops::Severity::kInfo);
}

TEST(JudgeResources, ADiskIsFull) {
  Facts facts = sample_facts();
  facts.disks = {{.key = "journal", .path = "/var", .available_bytes = 10, .needed_bytes = 10},
                 {.key = "records.file", .path = "/var", .available_bytes = 1, .needed_bytes = 9}};
  EXPECT_EQ(find_check(judge_resources(facts), "disk_full").severity, ops::Severity::kWarning);
  facts.disks[1].available_bytes = 0;
  EXPECT_EQ(find_check(judge_resources(facts), "disk_full").severity, ops::Severity::kError);
}

TEST(JudgeResources, RecordsAreLost) {
  Facts facts = sample_facts();
  facts.gateway->records = Json::parse(
      R"({"file": "failing", "file_trouble": "No space left on device", "ipfix": "ok"})");
  EXPECT_THAT(find_check(judge_resources(facts), "records_failing").seen, HasSubstr("No space"));
}

}  // namespace
}  // namespace satrelay::ctl::doctor::judge_resources_test
