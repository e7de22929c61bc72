#include "relay/client/socket_search.h"

#include <gtest/gtest.h>

#include "relay/client/stats_client.h"
#include "tests/unit/relay/client/fake_telemetry.h"

namespace satrelay::ctl::socket_search_test {
namespace {

namespace fs = std::filesystem;

class SocketSearch : public testing::Test {
 protected:
  ~SocketSearch() override {
    for (const int descriptor : listening_) ::close(descriptor);
  }
  fs::path socket_of(const std::string& prefix) {
    fs::create_directories(folder_.path() / prefix);
    return folder_.path() / prefix / "dpdk_telemetry.v2";
  }
  fs::path running(const std::string& prefix) {
    const fs::path socket = socket_of(prefix);
    listening_.push_back(listen_at(socket));
    return socket;
  }
  std::string error_of(const std::string& wanted) {
    try {
      choose_stats_socket(wanted, folders_);
    } catch (const StatsError& e) {
      return e.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  std::vector<fs::path> folders_{folder_.path() / "missing", folder_.path()};
  std::vector<int> listening_;
};

TEST_F(SocketSearch, TakesTheOnlyGateway) {
  const fs::path socket = running("satrelay-west");
  running("otherprogram");
  ::close(listen_at(socket_of("satrelay-killed")));
  socket_of("satrelay-starting");
  EXPECT_EQ(choose_stats_socket("", folders_), socket);
}

TEST_F(SocketSearch, AsksWhichOfSeveral) {
  const fs::path b = running("satrelay-b");
  const fs::path a = running("satrelay-a");
  EXPECT_EQ(error_of(""), "several gateways run here; name one with --socket:\n  --socket " +
                              a.string() + "\n  --socket " + b.string());
  EXPECT_EQ(choose_stats_socket("satrelay-b", folders_), b);
}

TEST_F(SocketSearch, SaysThatThereIsNone) {
  EXPECT_EQ(error_of(""),
            "no gateway runs here, or not for this user; start satrelayd, use sudo, or name its "
            "stats socket with --socket");
  EXPECT_EQ(error_of("hub"),
            "no gateway runs with the prefix hub; see stats_socket_prefix in its configuration");
}

TEST_F(SocketSearch, TakesAPathAsItIs) {
  EXPECT_EQ(choose_stats_socket("/some/where", folders_), "/some/where");
  EXPECT_EQ(choose_stats_socket("./here", folders_), "./here");
}

}  // namespace
}  // namespace satrelay::ctl::socket_search_test
