#include "relay/satrelayctl/init/installation.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "config/model/schema.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::ctl::init::installation_test {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0;
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::recursive_directory_iterator(folder), {}));
}

TEST(Installation, PublishesAllFilesWithOwnersAndModes) {
  const TemporaryFolder folder;
  const fs::path base = folder.path() / "a/b";
  {
    Installation installation(Existing::kKeep);
    const std::string secret = installation.add(base / "psk", "key\n", Reader::kGateway);
    EXPECT_EQ(content(secret), "key\n");
    installation.add(base / "gateway.yaml", "here\n", Reader::kEverybody);
    installation.add(base / "to-x/gateway.yaml", "there\n", Reader::kEverybody);
    EXPECT_FALSE(fs::exists(base / "psk"));
    installation.publish();
    EXPECT_TRUE(installation.backups().empty());
  }
  EXPECT_EQ(content(base / "gateway.yaml"), "here\n");
  EXPECT_EQ(content(base / "to-x/gateway.yaml"), "there\n");
  EXPECT_EQ(mode_of(base / "gateway.yaml"), 0644U);
  const bool has_user = ::geteuid() == 0 && ::getpwnam(config::kGatewayUser) != nullptr;
  EXPECT_EQ(mode_of(base / "psk"), has_user ? 0640U : 0600U);
  EXPECT_EQ(entries(folder.path()), 6U);
}

TEST(Installation, LeavesNothingUnlessItIsPublished) {
  const TemporaryFolder folder;
  {
    Installation installation(Existing::kKeep);
    installation.add(folder.path() / "a/b/psk", "key", Reader::kGateway);
    installation.add(folder.path() / "a/gateway.yaml", "here", Reader::kEverybody);
  }
  EXPECT_EQ(entries(folder.path()), 0U);
}

TEST(Installation, KeepsBackupsOfReplacedFiles) {
  const TemporaryFolder folder;
  for (const char* text : {"one", "two", "three"}) {
    Installation installation(Existing::kReplace);
    installation.add(folder.path() / "f", text, Reader::kEverybody);
    installation.publish();
    EXPECT_EQ(content(folder.file("f")), text);
  }
  EXPECT_EQ(content(folder.file("f.backup-1")), "one");
  EXPECT_EQ(content(folder.file("f.backup-2")), "two");
  EXPECT_EQ(entries(folder.path()), 3U);
  Installation installation(Existing::kKeep);
  EXPECT_THROW(installation.add(folder.path() / "f", "four", Reader::kEverybody),
               std::runtime_error);
}

TEST(Installation, RestoresAllIfOneFileFails) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("a")) << "before";
  for (const Existing existing : {Existing::kReplace, Existing::kKeep}) {
    Installation installation(existing);
    if (existing == Existing::kReplace) {
      installation.add(folder.path() / "a", "after", Reader::kEverybody);
    }
    installation.add(folder.path() / "new", "after", Reader::kEverybody);
    installation.add(folder.path() / "c", "after", Reader::kEverybody);
    // Another program makes a folder of this name meanwhile.
    ASSERT_EQ(::mkdir(folder.file("c").c_str(), 0755), 0);
    EXPECT_THROW(installation.publish(), std::runtime_error);
    EXPECT_EQ(content(folder.file("a")), "before");
    ASSERT_EQ(::rmdir(folder.file("c").c_str()), 0);
    EXPECT_EQ(entries(folder.path()), 1U);
  }
}

TEST(Installation, NamesAFolderInThePlaceOfAFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkdir(folder.file("psk").c_str(), 0755), 0);
  for (const Existing existing : {Existing::kReplace, Existing::kKeep}) {
    Installation installation(existing);
    try {
      installation.add(folder.path() / "psk", "key", Reader::kGateway);
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), folder.file("psk") + ": is a folder; move it away");
    }
  }
  std::ofstream(folder.file("file")) << "";
  Installation installation(Existing::kReplace);
  EXPECT_THROW(installation.add(folder.path() / "file/x/psk", "key", Reader::kGateway),
               std::runtime_error);
  EXPECT_THROW(installation.add(folder.path() / "file/psk", "key", Reader::kGateway),
               std::runtime_error);
}

}  // namespace
}  // namespace satrelay::ctl::init::installation_test
