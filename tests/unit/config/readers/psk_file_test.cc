#include "config/readers/psk_file.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "config/text/error.h"

namespace satrelay::config::psk_file_test {
namespace {

constexpr char kFirst[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
constexpr char kSecond[] = "FFFEFDFCFBFAF9F8F7F6F5F4F3F2F1F0efeeedecebeae9e8e7e6e5e4e3e2e1e0";

class PskFileTest : public ::testing::Test {
 protected:
  PskFileTest() { std::filesystem::create_directory(folder_); }
  ~PskFileTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path write(const std::string& text, ::mode_t mode = 0600) {
    std::filesystem::path file = folder_ / "psk";
    std::filesystem::remove(file);
    std::ofstream(file) << text;
    ::chmod(file.c_str(), mode);
    return file;
  }
  // The message, without the file's name in front.
  static std::string error_of(const std::filesystem::path& file) {
    try {
      read_psk_file(file);
    } catch (const ConfigError& error) {
      return std::string(error.what()).substr(file.string().size());
    }
    return "no error";
  }
  std::string error_of_text(const std::string& text) { return error_of(write(text)); }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("satrelay-psk-" + std::to_string(::getpid()));
};

std::string replaced(std::string text, std::size_t index, char by) {
  text[index] = by;
  return text;
}

bool counts_up(const Secret<kPskSize>& key, int from, int step) {
  return std::all_of(key.bytes().begin(), key.bytes().end(), [&](std::byte b) {
    const bool is_next = b == static_cast<std::byte>(from);
    from += step;
    return is_next;
  });
}

TEST_F(PskFileTest, ReadsOneKeyOrTwo) {
  for (const char* end : {"", "\n"}) {
    const PresharedKeys one = read_psk_file(write(std::string(kFirst) + end));
    EXPECT_TRUE(counts_up(one.current, 0, 1));
    EXPECT_FALSE(one.other);
    const PresharedKeys two = read_psk_file(write(std::string(kSecond) + "\n" + kFirst + end));
    EXPECT_TRUE(counts_up(two.current, 0xff, -1));
    ASSERT_TRUE(two.other);
    EXPECT_TRUE(counts_up(*two.other, 0, 1));
  }
  EXPECT_EQ(error_of(write(kFirst, 0400)), "no error");
}

// Returns the advice of the error for a file of this process, if no user is named.
std::string advice() {
  if (::geteuid() != 0) return "set it to 0600";
  const ::passwd* user = ::getpwnam(kGatewayUser);
  if (user == nullptr) user = ::getpwnam(kNobody);
  return "set it to 0640, and its group to " + std::string(::getgrgid(user->pw_gid)->gr_name);
}

TEST_F(PskFileTest, RefusesWhatOthersMayReadOrWrite) {
  for (const ::mode_t bit : {0001U, 0002U, 0004U, 0010U, 0020U, 0040U}) {
    const std::string error = error_of(write(kFirst, 0600 | bit));
    EXPECT_NE(error.find("so others may read or write it; " + advice()), std::string::npos)
        << bit << error;
  }
  EXPECT_EQ(error_of(write(kFirst, 0644)),
            ": has mode 0644, so others may read or write it; " + advice());
}

TEST_F(PskFileTest, RefusesAnotherOwner) {
  const std::filesystem::path file = write(kFirst);
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  EXPECT_EQ(
      error_of(file),
      ": belongs to user 65534; it must belong to root or to the user that satrelayd runs as");
  // The file is accepted once the process runs as the file's owner.
  ::chmod(folder_.c_str(), 0755);
  ASSERT_EQ(::seteuid(65534), 0);
  const std::string error_of_owner = error_of(file);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(error_of_owner, "no error");
}

// Root reads the file at the start. At a reload the user that the process then runs as reads it.
TEST_F(PskFileTest, TheGroupOfTheGatewaysUserMayRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const ::passwd* found = ::getpwnam("daemon");
  ASSERT_NE(found, nullptr);
  const ::passwd user = *found;  // the next call overwrites it
  const auto error = [&](const std::filesystem::path& file, const std::string& reader) {
    try {
      read_psk_file(file, reader);
    } catch (const ConfigError& wrong) {
      return std::string(wrong.what()).substr(file.string().size());
    }
    return std::string("no error");
  };
  const std::filesystem::path file = write(kFirst, 0640);
  EXPECT_EQ(error(file, "root"), ": has mode 0640, so others may read or write it; set it to 0600");
  ASSERT_EQ(::chown(file.c_str(), 0, user.pw_gid), 0);
  ::chmod(folder_.c_str(), 0755);
  EXPECT_EQ(error(file, "daemon"), "no error");
  EXPECT_EQ(
      error(file, "bin"),
      ": has mode 0640, so others may read or write it; set it to 0640, and its group to bin");
  EXPECT_EQ(error(file, ""), ": has mode 0640, so others may read or write it; " + advice());
  // The error once the process runs as that user, in this group.
  const auto error_as = [&](::gid_t group) {
    EXPECT_EQ(::setegid(group), 0);
    EXPECT_EQ(::seteuid(user.pw_uid), 0);
    const std::string text = error(file, "");
    EXPECT_EQ(::seteuid(0), 0);
    EXPECT_EQ(::setegid(0), 0);
    return text;
  };
  EXPECT_EQ(error_as(user.pw_gid), "no error");
  ::chmod(file.c_str(), 0660);
  EXPECT_EQ(error_as(user.pw_gid),
            ": has mode 0660, so others may read or write it; set it to 0640, and its group to "
            "daemon");
  ::chmod(file.c_str(), 0600);
  EXPECT_EQ(error_as(user.pw_gid),
            ": cannot be read: Permission denied; give it the group of the user that satrelayd "
            "runs as, and mode 0640 (chgrp, chmod)");
  // A file that belongs to the user itself must not be readable by its group.
  ASSERT_EQ(::chown(file.c_str(), user.pw_uid, user.pw_gid), 0);
  ::chmod(file.c_str(), 0640);
  EXPECT_EQ(error_as(user.pw_gid),
            ": has mode 0640, so others may read or write it; set it to 0600");
}

TEST_F(PskFileTest, RefusesWhatIsNoRegularFile) {
  ::chmod(folder_.c_str(), 0700);
  EXPECT_EQ(error_of(folder_), ": is not a regular file; write the path of one");
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of(pipe), ": is not a regular file; write the path of one");
  EXPECT_EQ(error_of("/dev/null"), ": is not a regular file; write the path of one");
  EXPECT_EQ(error_of(folder_ / "gone"),
            ": cannot be read: No such file or directory; correct the path, or make the file with "
            "satrelayctl keygen");
}

// A link is followed: the mode of the file that it leads to counts.
TEST_F(PskFileTest, FollowsALink) {
  const std::filesystem::path file = write(kFirst), link = folder_ / "link";
  std::filesystem::create_symlink(file, link);
  EXPECT_EQ(error_of(link), "no error");
  ::chmod(file.c_str(), 0640);
  EXPECT_EQ(error_of(link), ": has mode 0640, so others may read or write it; " + advice());
}

TEST_F(PskFileTest, RefusesFilesOfNoOrTooManyBytes) {
  EXPECT_EQ(error_of_text(""), ": is empty; make a key with satrelayctl keygen");
  const std::string too_long =
      ": is too long; write one key of 64 hexadecimal digits, or two, a line each";
  const std::string two = std::string(kFirst) + "\n" + kSecond + "\n";
  EXPECT_EQ(error_of_text(two), "no error");
  EXPECT_EQ(error_of_text(two + "\n"), too_long);
  EXPECT_EQ(error_of_text(two + kFirst), too_long);
  EXPECT_EQ(error_of_text(std::string(1'000'000, '0')), too_long);
}

TEST_F(PskFileTest, TellsWhereALineIsWrong) {
  const std::string first = kFirst, second = kSecond;
  const std::string no_digit = "no hexadecimal digit; a key is 64 of 0 to 9 and a to f";
  EXPECT_EQ(error_of_text("\n"), ":1:1: 0 hexadecimal digits; a key has 64");
  EXPECT_EQ(error_of_text(first.substr(1)), ":1:64: 63 hexadecimal digits; a key has 64");
  EXPECT_EQ(error_of_text(first + "0\n"), ":1:65: more than 64 hexadecimal digits; a key has 64");
  EXPECT_EQ(error_of_text(first + "\r\n"), ":1:65: more than 64 hexadecimal digits; a key has 64");
  EXPECT_EQ(error_of_text(replaced(first, 0, 'g')), ":1:1: " + no_digit);
  EXPECT_EQ(error_of_text(replaced(first, 10, ' ')), ":1:11: " + no_digit);
  EXPECT_EQ(error_of_text(replaced(first, 1, 'x')), ":1:2: " + no_digit);
  EXPECT_EQ(error_of_text(replaced(first, 0, '#')), ":1:1: " + no_digit);
  EXPECT_EQ(error_of_text(first + "\n\n"), ":2:1: 0 hexadecimal digits; a key has 64");
  EXPECT_EQ(error_of_text(first + "\n" + second.substr(0, 30)),
            ":2:31: 30 hexadecimal digits; a key has 64");
  EXPECT_EQ(error_of_text(first + "\n" + replaced(second, 63, '/')), ":2:64: " + no_digit);
  EXPECT_EQ(error_of_text(first + "\n12\n34\n"), ":2:3: " + no_digit);
  EXPECT_EQ(error_of_text(first + "\n" + first),
            ":2:1: the same key again; write another, or none");
}

// No message quotes four digits of a key in sequence, whatever is wrong with the file.
TEST_F(PskFileTest, NeverTellsAKey) {
  const std::string first = kFirst;
  const auto followed_by = [&first](std::string_view more) {
    return std::string(first).append(more);
  };
  for (const std::string& text :
       {first.substr(1), followed_by("ab"), followed_by("\n" + first), followed_by("\n1234"),
        followed_by("\nxyz"), followed_by(first + first), replaced(first, 40, 'z')}) {
    const std::string error = error_of_text(text);
    ASSERT_NE(error, "no error");
    for (std::size_t i = 0; i + 4 <= first.size(); ++i) {
      EXPECT_EQ(error.find(first.substr(i, 4)), std::string::npos) << error;
    }
  }
}

}  // namespace
}  // namespace satrelay::config::psk_file_test
