#include "relay/satrelayctl/init/next_steps.h"

#include <gtest/gtest.h>

namespace satrelay::ctl::init::next_steps_test {
namespace {

Answers sample() {
  Answers answers;
  answers.role = Role::kHub;
  answers.here.name = "teleport";
  answers.there.name = "ship";
  answers.here.lan.interface = "eth1";
  answers.here.wan.interface = "eth2";
  answers.there.lan.driver = config::Driver::kPci;
  return answers;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(NextSteps, HaveTheCommandsOfBothSites) {
  const std::string text = next_steps(sample(), {});
  EXPECT_TRUE(has(text, "/etc/satrelay/gateway.yaml          this gateway: hub teleport\n"));
  EXPECT_TRUE(has(text, "/etc/satrelay/to-ship/gateway.yaml  the other gateway: terminal ship\n"));
  EXPECT_TRUE(has(text, "scp -p /etc/satrelay/to-ship/gateway.yaml /etc/satrelay/psk root@ship:"));
  EXPECT_TRUE(has(text, "chown root:satrelay /etc/satrelay/psk && chmod 0640 /etc/satrelay/psk"));
  EXPECT_TRUE(has(text, "satrelay-supervise run -c /etc/satrelay/gateway.yaml\n"));
  EXPECT_TRUE(has(text, "systemctl enable --now satrelayd@gateway\n"));
  EXPECT_FALSE(has(text, "Only its owner"));
}

TEST(NextSteps, HaveNoSecretThatIsNotNew) {
  Answers answers = sample();
  answers.folder = "/etc/other";
  answers.secret = SecretSource::kFile;
  answers.secret_file = "/etc/satrelay/psk";
  const std::string text = next_steps(answers, {.backups = {"/etc/satrelay/gateway.yaml.backup-1"},
                                                .remarks = {"f:1:2: a remark"},
                                                .gateway_reads_secret = false});
  EXPECT_FALSE(has(text, "gateway.yaml /etc/satrelay/psk"));
  EXPECT_TRUE(has(text, "The same secret must be in /etc/satrelay/psk there."));
  EXPECT_FALSE(has(text, "systemctl"));
  EXPECT_TRUE(has(text, "  /etc/satrelay/gateway.yaml.backup-1  (the file that was there)\n"));
  EXPECT_TRUE(has(text, "  f:1:2: a remark\n"));
  EXPECT_FALSE(has(text, "Only its owner"));
}

TEST(NextSteps, SayThatOnlyTheOwnerMayReadASecret) {
  EXPECT_TRUE(
      has(next_steps(sample(), {.backups = {}, .remarks = {}, .gateway_reads_secret = false}),
          "Only its owner may read the secret"));
}

}  // namespace
}  // namespace satrelay::ctl::init::next_steps_test
