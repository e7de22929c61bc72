#include <gmock/gmock.h>

#include "tests/unit/relay/doctor/sample_facts.h"

namespace satrelay::ctl::doctor::judge_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json event(const char* name, std::uint64_t time_ms) {
  return {{"name", name}, {"time_ms", time_ms}, {"detail", "g.yaml:3:1: no such key"}};
}

TEST(JudgeFile, AHealthyPairHasNoFinding) {
  EXPECT_THAT(judge_file(sample_facts()), IsEmpty());
  EXPECT_THAT(judge_file(sample_facts_of_file()), IsEmpty());
}

TEST(JudgeFile, AMistakeIsShownWithItsPlace) {
  Facts facts = sample_facts_of_file();
  facts.file.config.reset();
  facts.file.mistake = "g.yaml:2:3: peers[0].prefixes: 198.51.100.0/24 overlaps 198.51.100.0/25";
  const auto finding = find_check(judge_file(facts), "file_wrong");
  EXPECT_EQ(finding.severity, ops::Severity::kError);
  EXPECT_THAT(finding.seen, HasSubstr("overlaps"));
}

TEST(JudgeFile, AFileThatChangedAfterTheStart) {
  Facts facts = sample_facts();  // started at 1,940,000
  facts.file.read_files[0].changed_ms = 1'970'000;
  const auto finding = find_check(judge_file(facts), "file_changed");
  EXPECT_THAT(finding.seen, HasSubstr("30.0 s after"));
  EXPECT_THAT(finding.cure, HasSubstr("satrelayctl reload"));
  // A reload has read it.
  facts.gateway->events.push_back(event("reload_done", 1'975'000));
  EXPECT_THAT(judge_file(facts), IsEmpty());
  // A gateway that does not run has not read it.
  facts.gateway.reset();
  EXPECT_THAT(judge_file(facts), IsEmpty());
}

TEST(JudgeFile, TheGatewayItselfKnowsWhetherItsFileHasChanged) {
  Facts facts = sample_facts();
  ReadFile& file = facts.file.read_files[0];
  file.changed_ms = 1'970'000;
  file.change = FileChange::kNone;
  EXPECT_THAT(judge_file(facts), IsEmpty());
  file.changed_ms = 1'000'000;
  file.change = FileChange::kChanged;
  EXPECT_THAT(find_check(judge_file(facts), "file_changed").cure, HasSubstr("satrelayctl reload"));
  file.change = FileChange::kGone;
  EXPECT_THAT(find_check(judge_file(facts), "file_changed").seen, HasSubstr("was removed"));
}

TEST(JudgeFile, TheLatestReloadWasRefused) {
  Facts facts = sample_facts();
  facts.gateway->events = Json::array({event("reload_refused", 1'950'000)});
  EXPECT_THAT(find_check(judge_file(facts), "reload_refused").seen, HasSubstr("no such key"));
  facts.gateway->events.push_back(event("reload_done", 1'951'000));
  EXPECT_THAT(judge_file(facts), IsEmpty());
}

TEST(JudgeFile, ASecretThatTheGatewayCannotReadAnyMore) {
  Facts facts = sample_facts();
  facts.file.read_files.push_back(
      {.path = "/etc/satrelay/psk", .changed_ms = 0, .is_readable = false});
  const auto finding = find_check(judge_file(facts), "file_unreadable");
  EXPECT_EQ(finding.subject, "/etc/satrelay/psk");
  EXPECT_THAT(finding.cure, HasSubstr("chgrp satrelay /etc/satrelay/psk"));
}

TEST(JudgeFile, AGatewayThatDoesNotAnswer) {
  Facts facts = sample_facts_of_file();
  facts.socket_state = SocketState::kLeft;
  EXPECT_EQ(find_check(judge_file(facts), "gateway_ended").severity, ops::Severity::kError);
  facts.socket_state = SocketState::kSilent;
  facts.gateway_trouble = "no answer from /run/x; the gateway is overloaded or stuck";
  EXPECT_THAT(find_check(judge_file(facts), "gateway_silent").seen, HasSubstr("no answer"));
}

TEST(JudgeFile, TheProgramsAreOfDifferentVersions) {
  Facts facts = sample_facts();
  facts.version = "9.9.8";
  EXPECT_THAT(names_of(judge_file(facts)), ElementsAre("other_version"));
}

}  // namespace
}  // namespace satrelay::ctl::doctor::judge_file_test
