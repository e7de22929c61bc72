#include "relay/satpanel/users/users.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "relay/satpanel/users/user_file.h"

namespace satrelay::panel::users_test {
namespace {

class UsersTest : public testing::Test {
 protected:
  UsersTest() : file_(testing::TempDir() + "satpanel-users-" + std::to_string(::getpid())) {}
  ~UsersTest() override { std::filesystem::remove(file_); }
  void write(const std::string& text) const { std::ofstream(file_) << text; }
  std::string complaint() const {
    try {
      Users::load(file_);
    } catch (const std::runtime_error& error) {
      return std::string(error.what()).substr(file_.string().size());
    }
    return "";
  }
  std::filesystem::path file_;
};

TEST_F(UsersTest, AreAsTheyWereSaved) {
  Users users;
  users.put({"ann", Role::kAdministrator, hash_password("a long password"), ""});
  users.put({"prometheus", Role::kViewer, "", hash_token("secret")});
  users.save(file_);
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const Users read = Users::load(file_);
  ASSERT_EQ(read.all().size(), 2U);
  const User* ann = read.check_password("ann", "a long password");
  ASSERT_NE(ann, nullptr);
  EXPECT_EQ(ann->role, Role::kAdministrator);
  EXPECT_EQ(read.check_token("secret")->name, "prometheus");
}

TEST_F(UsersTest, NeedTheRightPasswordOrToken) {
  Users users;
  users.put({"ann", Role::kViewer, hash_password("right password"), ""});
  users.put({"prometheus", Role::kViewer, "", hash_token("secret")});
  EXPECT_EQ(users.check_password("ann", "wrong password"), nullptr);
  EXPECT_EQ(users.check_password("ann", ""), nullptr);
  EXPECT_EQ(users.check_password("bob", "right password"), nullptr);
  // A user with only a token has no password, not even an empty one. A user with only a password
  // has no token.
  EXPECT_EQ(users.check_password("prometheus", ""), nullptr);
  EXPECT_EQ(users.check_token(""), nullptr);
  EXPECT_EQ(users.check_token("Secret"), nullptr);
}

TEST_F(UsersTest, AreRefusedWithTheLine) {
  write("users:\n- {name: ann, role: admin}\n");
  EXPECT_EQ(complaint(), ":2: role: write viewer, operator or administrator");
  write("users:\n- {name: ann}\n- {name: ann}\n");
  EXPECT_EQ(complaint(), ":3: there is a user ann already");
  write("users:\n- {name: ann, password: plain}\n");
  EXPECT_EQ(complaint(), ":2: password: write its hash, with `satpanel user add`");
  write("users:\n- {name: ann, token: short}\n");
  EXPECT_EQ(complaint(), ":2: token: write its SHA-256, with `satpanel token add`");
  write("users:\n- {name: 'a b'}\n");
  EXPECT_EQ(complaint(), ":2: name: 1 to 32 letters, digits, '.', '_' or '-'");
  write("users:\n- {name: ann, group: x}\n");
  EXPECT_EQ(complaint(), ":2: unknown key group; write name, role, password or token");
  write("nobody: 1\n");
  EXPECT_EQ(complaint(), ":1: write a list `users:`");
  write("- a\n");
  EXPECT_NE(complaint(), "");
  write("users: [\n");
  EXPECT_NE(complaint(), "");
}

TEST_F(UsersTest, OfAFileThatHasChangedAreReadAnew) {
  write("users:\n- {name: ann}\n");
  UserFile users(file_);
  std::vector<std::string> diagnostics;
  const auto complain = [&](const std::string& what) { diagnostics.push_back(what); };
  EXPECT_FALSE(users.refresh(complain));
  const auto touch = [&](int seconds) {
    std::filesystem::last_write_time(
        file_, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(seconds));
  };
  write("users:\n- {name: bob}\n");
  touch(1);
  EXPECT_TRUE(users.refresh(complain));
  EXPECT_EQ(users.current()->all().at(0).name, "bob");
  write("users: none\n");
  touch(2);
  EXPECT_FALSE(users.refresh(complain));
  EXPECT_FALSE(users.refresh(complain));
  EXPECT_EQ(diagnostics.size(), 1U);
  EXPECT_EQ(users.current()->all().at(0).name, "bob");
}

TEST_F(UsersTest, OfAFileThatIsGoneAreNobodyUntilItIsBack) {
  write("users:\n- {name: ann}\n");
  UserFile users(file_);
  std::vector<std::string> diagnostics;
  const auto complain = [&](const std::string& what) { diagnostics.push_back(what); };
  const std::filesystem::path away = file_.string() + "-away";
  std::filesystem::rename(file_, away);
  EXPECT_TRUE(users.refresh(complain));
  EXPECT_FALSE(users.refresh(complain));
  EXPECT_EQ(users.current()->find("ann"), nullptr);
  EXPECT_FALSE(users.is_open_to_all());
  ASSERT_EQ(diagnostics.size(), 1U);
  EXPECT_NE(diagnostics[0].find("is gone; there are no users"), std::string::npos)
      << diagnostics[0];
  // The same file comes back, with its old modification time.
  std::filesystem::rename(away, file_);
  EXPECT_TRUE(users.refresh(complain));
  EXPECT_NE(users.current()->find("ann"), nullptr);
  EXPECT_EQ(diagnostics.size(), 1U);
}

TEST_F(UsersTest, OfAFileThatCannotBeLookedAtStay) {
  write("users:\n- {name: ann}\n");
  UserFile users(file_);
  std::vector<std::string> diagnostics;
  const auto complain = [&](const std::string& what) { diagnostics.push_back(what); };
  std::filesystem::remove(file_);
  std::filesystem::create_symlink(file_, file_);  // even root cannot follow it
  EXPECT_FALSE(users.refresh(complain));
  EXPECT_FALSE(users.refresh(complain));
  EXPECT_NE(users.current()->find("ann"), nullptr);
  ASSERT_EQ(diagnostics.size(), 1U);
  EXPECT_NE(diagnostics[0].find("the users did not change"), std::string::npos) << diagnostics[0];
  std::filesystem::remove(file_);
  write("users:\n- {name: bob}\n");
  EXPECT_TRUE(users.refresh(complain));
  EXPECT_NE(users.current()->find("bob"), nullptr);
}

}  // namespace
}  // namespace satrelay::panel::users_test
