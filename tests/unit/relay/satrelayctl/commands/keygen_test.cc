#include "relay/satrelayctl/commands/keygen.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "config/readers/psk_file.h"

namespace satrelay::ctl::keygen_test {
namespace {

const std::filesystem::path kFile =
    std::filesystem::temp_directory_path() / ("satrelay-keygen-" + std::to_string(::getpid()));

TEST(Keygen, MakesAKeyThatAGatewayReads) {
  std::filesystem::remove(kFile);
  const ::mode_t before = ::umask(0);
  write_key_file(kFile);
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(kFile.c_str(), &status), 0);
  // The gateway's user must be able to read the file at a reload.
  const ::passwd* user = ::geteuid() == 0 ? ::getpwnam(config::kGatewayUser) : nullptr;
  EXPECT_EQ(status.st_mode & 0777U, user == nullptr ? 0600U : 0640U);
  EXPECT_TRUE(user == nullptr || status.st_gid == user->pw_gid);
  const config::PresharedKeys keys = config::read_psk_file(kFile);
  EXPECT_FALSE(std::ranges::all_of(keys.current.bytes(),
                                   [](std::byte octet) { return octet == std::byte{0}; }));
  // An existing key is not overwritten.
  const auto content = [] {
    std::ifstream in(kFile);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string first = content();
  EXPECT_THROW(write_key_file(kFile), std::runtime_error);
  EXPECT_EQ(content(), first);
  // A second key in the file, for a change of keys.
  std::ofstream(kFile, std::ios::app) << make_key();
  EXPECT_TRUE(config::read_psk_file(kFile).other);
  std::filesystem::remove(kFile);
}

TEST(Keygen, NeverMakesTheSameTwice) { EXPECT_NE(make_key(), make_key()); }

TEST(Keygen, SaysWhereItCannotWrite) {
  try {
    write_key_file("/nonexistent/folder/psk");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "the folder /nonexistent/folder cannot be made: No such file or directory");
  }
}

TEST(Keygen, MakesTheFolderOfANewMachine) {
  const std::filesystem::path folder = kFile.string() + "-folder";
  std::filesystem::remove_all(folder);
  write_key_file(folder / "psk");
  EXPECT_NO_THROW(config::read_psk_file(folder / "psk"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace satrelay::ctl::keygen_test
