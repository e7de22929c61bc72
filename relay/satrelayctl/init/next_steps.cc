#include "relay/satrelayctl/init/next_steps.h"

#include <fmt/format.h>

#include "config/model/schema.h"
#include "relay/text/table.h"

namespace satrelay::ctl::init {
namespace {

// The file that satrelayd.service names.
constexpr const char* kFileOfUnit = "/etc/satrelay/gateway.yaml";

std::string written(const Answers& answers) {
  std::vector<text::Row> rows = {
      {"  " + answers.configuration_file(),
       fmt::format("this gateway: {} {}", to_string(answers.role), answers.here.name)},
      {"  " + answers.peer_configuration_file(),
       fmt::format("the other gateway: {} {}", to_string(other(answers.role)),
                   answers.there.name)}};
  if (answers.secret == SecretSource::kMake) {
    rows.push_back({"  " + answers.psk_file(), "the secret of both"});
  }
  return "Written:\n" + text::format_pairs(rows);
}

// The commands that take the file, and a secret that was made here, to the other site.
std::string transport(const Answers& answers) {
  const bool is_new = answers.secret == SecretSource::kMake;
  std::string text = fmt::format(
      "  1. Take {0} to {1}, where {1} is the address of its machine:\n"
      "       ssh root@{1} mkdir -p {2}\n"
      "       scp -p {3}{4} root@{1}:{2}/\n",
      is_new ? "the file, and the secret by a private way," : "the file", answers.there.name,
      answers.folder, answers.peer_configuration_file(), is_new ? " " + answers.psk_file() : "");
  if (is_new) {
    text += fmt::format(
        "     There, let the gateway read the secret:\n"
        "       chown root:{0} {1} && chmod 0640 {1}\n",
        config::kGatewayUser, answers.psk_file());
  }
  if (answers.secret == SecretSource::kFile) {
    text += fmt::format("     The same secret must be in {} there.\n", answers.psk_file());
  }
  return text;
}

}  // namespace

std::string next_steps(const Answers& answers, const Result& result) {
  const std::string file = answers.configuration_file();
  std::string text = written(answers);
  for (const std::filesystem::path& backup : result.backups) {
    text += "  " + backup.string() + "  (the file that was there)\n";
  }
  text += "The loader of satrelayd accepts both files.\n";
  for (const std::string& remark : result.remarks) text += "  " + remark + "\n";
  if (answers.secret == SecretSource::kMake && !result.gateway_reads_secret) {
    text += fmt::format(
        "Only its owner may read the secret: start as root on a machine with a user {}, which\n"
        "deploy/setup.sh makes.\n",
        config::kGatewayUser);
  }
  text += "\nNext:\n" + transport(answers);
  text +=
      "  2. Check the file at each site, which also checks memory and cores of the machine:\n"
      "       satrelayd -c " +
      file + " --check\n";
  text += "  3. Start the gateway at each site:\n       satrelay-supervise run -c " + file + "\n";
  if (file == kFileOfUnit) {
    text += "     Or under systemd:\n       systemctl enable --now satrelayd@gateway\n";
  }
  text +=
      "  4. Look at the peers: the state must be alive. Then at the flows of a host:\n"
      "       satrelayctl peers\n"
      "       satrelayctl flows\n";
  return text;
}

}  // namespace satrelay::ctl::init
