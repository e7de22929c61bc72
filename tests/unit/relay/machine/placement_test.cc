#include "relay/machine/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace satrelay::machine::placement_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CpuTopology two_sockets() {
  CpuTopology topology;
  topology.nodes = {{0, 0}, {1, 0}, {2, 1}, {3, 1}, {6, 1}};
  topology.isolated = {1, 2, 3};
  topology.tickless = {1, 3};
  return topology;
}

CpuTopology one_socket() {
  CpuTopology topology;
  topology.nodes = {{0, 0}, {1, 0}};
  return topology;
}

config::Worker on(std::optional<unsigned> cpu, config::Polling polling = config::Polling::kBusy) {
  config::Worker worker;
  if (cpu) worker.cpus = {*cpu};
  worker.polling = polling;
  return worker;
}

TEST(Placement, NothingIsSaidOfAGoodPlace) {
  EXPECT_THAT(advise(on(3), {{"lan", 1, {}}, {"wan", 1, {}}}, two_sockets()), IsEmpty());
}

TEST(Placement, NothingIsSaidWhereNothingWasChosen) {
  EXPECT_THAT(advise(on({}, config::Polling::kAdaptive), {{"lan", -1, {}}}, one_socket()),
              IsEmpty());
  EXPECT_THAT(advise(on({}, config::Polling::kAdaptive), {{"lan", 0, {}}}, one_socket()),
              IsEmpty());
}

TEST(Placement, AWorkerOnTheOtherSocketIsToldWhichCoresAreRight) {
  EXPECT_THAT(advise(on(1), {{"lan", 1, {}}, {"wan", 0, {}}}, two_sockets()),
              ElementsAre("port lan is on NUMA node 1, worker.cpu 1 on node 0: every frame crosses "
                          "between the sockets; set worker.cpu to one of its cores (2-3,6)"));
}

TEST(Placement, WithoutACoreOfItsOwnTheWorkerMayBeOnEitherSocket) {
  EXPECT_THAT(advise(on({}, config::Polling::kAdaptive), {{"lan", 1, {}}}, two_sockets()),
              ElementsAre(HasSubstr("the worker may run on another one")));
}

TEST(Placement, ADeviceOfNoKnownNodeIsNowhereWrong) {
  EXPECT_THAT(advise(on(1), {{"lan", -1, {}}}, two_sockets()), IsEmpty());
}

TEST(Placement, ACoreThatDoesNotExistIsRefused) {
  CpuTopology topology = one_socket();
  topology.online = {0, 1};
  EXPECT_FALSE(object_to_cores(on({}), topology));
  EXPECT_FALSE(object_to_cores(on(1), topology));
  const auto objection = object_to_cores(on(40), topology);
  ASSERT_TRUE(objection);
  EXPECT_EQ(objection->path, "worker.cpu");
  EXPECT_EQ(objection->message,
            "core 40 does not exist on this machine, or is off: write one of 0-1");
  topology.online.clear();  // the kernel does not report it
  EXPECT_FALSE(object_to_cores(on(40), topology));
}

TEST(Placement, ACoreThatIsNotIsolatedIsTold) {
  EXPECT_THAT(advise(on(0), {{"lan", 0, {}}}, one_socket()),
              ElementsAre(HasSubstr("isolcpus=0 nohz_full=0")));
  EXPECT_THAT(advise(on(2), {{"lan", 1, {}}}, two_sockets()),
              ElementsAre(HasSubstr("is isolated, but the kernel's timer")));
}

TEST(Placement, BusyPollingWantsACore) {
  EXPECT_THAT(advise(on({}), {}, one_socket()),
              ElementsAre(HasSubstr("polling: busy without worker.cpu")));
}

TEST(Placement, EachOfSeveralWorkersIsLookedAt) {
  config::Worker workers;
  workers.count = 2;
  workers.cpus = {3, 0};
  EXPECT_THAT(advise(workers, {{"lan", 1, {}}}, two_sockets()),
              ElementsAre("port lan is on NUMA node 1, worker.cpus 0 on node 0: every frame "
                          "crosses between the sockets; set worker.cpus to some of its cores "
                          "(2-3,6)",
                          HasSubstr("core 0 (worker.cpus) is not isolated")));
  workers.count = 4;
  workers.cpus = {};
  workers.polling = config::Polling::kAdaptive;
  EXPECT_THAT(advise(workers, {}, one_socket()),
              ElementsAre(HasSubstr("worker.count 4 is more than the 2 cores")));
}

TEST(Placement, WhatADeviceLacksIsTold) {
  EXPECT_THAT(
      advise(on(3), {{"wan", 1, {"TCP checksums on receive", "on sending"}}}, two_sockets()),
      ElementsAre("port wan: the device lacks TCP checksums on receive, on sending; the worker "
                  "does this work itself"));
}

}  // namespace
}  // namespace satrelay::machine::placement_test
