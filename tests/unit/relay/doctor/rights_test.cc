#include "relay/doctor/rights.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace satrelay::ctl::doctor::rights_test {
namespace {

class RightsTest : public testing::Test {
 protected:
  RightsTest() {
    std::string name = testing::TempDir() + "rights-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    file_ = folder_ / "psk";
    std::ofstream(file_) << "x";
    ::chmod(folder_.c_str(), 0755);
  }
  ~RightsTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  std::filesystem::path file_;
  // No user or group of a machine has these numbers.
  const GatewayUser stranger_{.name = "stranger", .user = 54321, .groups = {54321}};
  const GatewayUser member_{.name = "member", .user = 54321, .groups = {54321, ::getegid()}};
  const GatewayUser owner_{.name = "owner", .user = ::geteuid(), .groups = {}};
};

TEST_F(RightsTest, TheOwnerTheGroupAndTheOthers) {
  ::chmod(file_.c_str(), 0640);
  EXPECT_TRUE(may_read(owner_, file_));
  EXPECT_TRUE(may_read(member_, file_));
  EXPECT_FALSE(may_read(stranger_, file_));
  ::chmod(file_.c_str(), 0600);
  EXPECT_FALSE(may_read(member_, file_));
  ::chmod(file_.c_str(), 0644);
  EXPECT_TRUE(may_read(stranger_, file_));
}

TEST_F(RightsTest, AFolderAboveMustLetTheUserIn) {
  ::chmod(file_.c_str(), 0644);
  ::chmod(folder_.c_str(), 0700);
  EXPECT_FALSE(may_read(stranger_, file_));
  EXPECT_TRUE(may_read(owner_, file_));
}

TEST_F(RightsTest, AFileThatIsNotThereIsNoFaultOfTheRights) {
  EXPECT_TRUE(may_read(stranger_, folder_ / "absent"));
}

TEST(UserInStatus, HasTheEffectiveUserAndAllGroups) {
  const GatewayUser user =
      user_in_status("Name:\tsatrelayd\nUid:\t1\t54321\t1\t1\nGid:\t2\t7\t2\t2\nGroups:\t8 9 \n");
  EXPECT_EQ(user.user, 54321U);
  EXPECT_EQ(user.groups, (std::vector<gid_t>{7, 8, 9}));
  EXPECT_EQ(user.name, "uid 54321");
}

}  // namespace
}  // namespace satrelay::ctl::doctor::rights_test
