#include "relay/satrelayctl/doctor/report.h"

#include <gmock/gmock.h>

#include "relay/text/table.h"
#include "tests/unit/relay/doctor/sample_facts.h"

namespace satrelay::ctl::doctor::report_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const machine::Findings kFindings{{.check = "bypass_on",
                                   .severity = ops::Severity::kWarning,
                                   .subject = "gateway",
                                   .seen = "new connections are bridged: new_flows is bypass",
                                   .cause = "an operator has given the command",
                                   .cure = "satrelayctl bypass off",
                                   .page = "guide.md#bypass-and-drain"}};

TEST(Report, HasCauseAndCureOfEachFinding) {
  EXPECT_EQ(findings_text(kFindings, sample_facts(), text::kAnyWidth),
            "warning   gateway: new connections are bridged: new_flows is bypass [bypass_on]\n"
            "  cause   an operator has given the command\n"
            "  cure    satrelayctl bypass off\n"
            "  see     docs/guide.md#bypass-and-drain\n"
            "\n"
            "errors 0, warnings 1, infos 0\n");
  EXPECT_THAT(findings_text({}, sample_facts(), 80), StartsWith("Nothing is wrong"));
}

TEST(Report, FoldsToTheWidthOfTheTerminal) {
  EXPECT_THAT(findings_text(kFindings, sample_facts(), 40),
              StartsWith("warning   gateway: new connections are\n"
                         "          bridged: new_flows is bypass\n"));
}

TEST(Report, NamesChecksThatCouldNotBeMade) {
  EXPECT_THAT(findings_text({}, sample_facts_of_file(), 200),
              HasSubstr("left out  The checks of a running gateway: no gateway runs"));
  Facts facts = sample_facts();
  facts.file = {};
  EXPECT_THAT(findings_text({}, facts, 200), HasSubstr("name its file with -c FILE"));
  facts.file.path = "g.yaml";
  EXPECT_THAT(findings_text({}, facts, 200), HasSubstr("the file is wrong"));
}

TEST(Report, IsJsonForPrograms) {
  const Json reply = Json::parse(findings_json(kFindings, sample_facts_of_file()));
  EXPECT_EQ(reply["findings"][0]["check"], "bypass_on");
  EXPECT_EQ(reply["findings"][0]["severity"], "warning");
  EXPECT_EQ(reply["findings"][0]["cure"], "satrelayctl bypass off");
  EXPECT_EQ(reply["left_out"].size(), 1U);
}

}  // namespace
}  // namespace satrelay::ctl::doctor::report_test
