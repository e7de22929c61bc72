#include "relay/satrelayctl/init/file_answers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "config/text/error.h"
#include "relay/satrelayctl/commands/keygen.h"
#include "tests/unit/relay/satrelayctl/init/sample_setting.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::ctl::init::file_answers_test {
namespace {

using Reader = void (*)(const config::Value&, Answers&, const Setting&);

// Returns why the answer is refused, or "" if it is not.
std::string refusal_of(Reader read, const std::string& text, Answers& answers,
                       const Setting& setting) {
  config::Places places("f");
  try {
    read(config::Value(places, YAML::Node(text), "k"), answers, setting);
  } catch (const config::ConfigError& error) {
    return std::string(error.what()).substr(std::string("f: k: ").size());
  }
  return "";
}

TEST(FileAnswers, FolderMayBeNewAndMustBeWritable) {
  const TemporaryFolder folder;
  const Setting setting = sample_setting("");
  Answers answers;
  EXPECT_EQ(refusal_of(read_folder, folder.file("a/b/c"), answers, setting), "");
  EXPECT_EQ(answers.folder, folder.file("a/b/c"));
  EXPECT_EQ(refusal_of(read_folder, folder.file("d/"), answers, setting), "");
  EXPECT_EQ(answers.folder, folder.file("d"));
  EXPECT_NE(refusal_of(read_folder, "etc", answers, setting), "");
  EXPECT_NE(refusal_of(read_folder, "/", answers, setting), "");
  EXPECT_NE(refusal_of(read_folder, "/etc\n/x", answers, setting), "");
  std::ofstream(folder.file("file")) << "";
  EXPECT_EQ(refusal_of(read_folder, folder.file("file/x"), answers, setting),
            folder.file("file") + " is not a folder; write the path of a folder");
}

TEST(FileAnswers, FolderWithALinkInThePlaceOfAFileIsRefused) {
  const TemporaryFolder folder;
  const Setting setting = sample_setting("");
  Answers answers;
  std::filesystem::create_symlink("nowhere", folder.file("gateway.yaml"));
  EXPECT_EQ(refusal_of(read_folder, folder.path(), answers, setting),
            folder.file("gateway.yaml") + " is not a regular file; move it away");
}

TEST(FileAnswers, SecretIsMadeOrTaken) {
  const TemporaryFolder folder;
  const Setting setting = sample_setting("");
  Answers answers;
  answers.folder = folder.path();
  EXPECT_EQ(usual_secret(answers), "make");
  EXPECT_EQ(refusal_of(read_secret, "make", answers, setting), "");
  EXPECT_EQ(answers.psk_file(), folder.file("psk"));
  write_key_file(folder.file("psk"));
  EXPECT_EQ(usual_secret(answers), folder.file("psk"));
  EXPECT_EQ(refusal_of(read_secret, folder.file("psk"), answers, setting), "");
  EXPECT_EQ(answers.secret, SecretSource::kFile);
  EXPECT_EQ(refusal_of(read_secret, "make", answers, setting),
            folder.file("psk") +
                " exists; write another folder, or start again with --force, which keeps a backup");
  ASSERT_EQ(::chmod(folder.file("psk").c_str(), 0644), 0);
  EXPECT_NE(refusal_of(read_secret, folder.file("psk"), answers, setting).find("has mode 0644"),
            std::string::npos);
}

}  // namespace
}  // namespace satrelay::ctl::init::file_answers_test
