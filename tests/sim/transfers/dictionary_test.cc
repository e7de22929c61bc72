// Classes with a dictionary. Small objects shrink further, and no byte is wrong, however the
// dictionaries change meanwhile.
#include "pep/compress/dictionary.h"

#include <gtest/gtest.h>

#include <vector>

#include "relay/sim/checks/checks.h"
#include "relay/sim/hosts/pattern.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/unit/pep/compress/dictionary_samples.h"

namespace satrelay::sim::dictionary_test {
namespace {

// A dictionary for content as in the simulated flows. Each seed makes another one.
compress::Bytes trained(std::uint64_t seed) {
  std::vector<compress::Bytes> samples;
  for (std::uint64_t i = 0; i < 500; ++i) {
    samples.emplace_back(1'000);
    Pattern(1'000 * seed + i, Content::kAnswers).fill(0, samples.back());
  }
  return compress::train(samples, 16 * 1024);
}

config::TrafficClass web(compress::Bytes dictionary) {
  config::TrafficClass traffic_class{.name = "web"};
  traffic_class.dictionary = std::move(dictionary);
  return traffic_class;
}

Scenario small_objects(std::uint64_t seed, int flows, compress::Bytes dictionary,
                       const LinkSpec& link = {}, Content content = Content::kAnswers) {
  Scenario scenario = make_lab(seed, link);
  config::Rule rule;
  rule.traffic_class = "web";
  scenario.rules = {rule};
  scenario.classes = {web(std::move(dictionary))};
  for (int i = 0; i < flows; ++i) {
    FlowSpec& flow = add_flow(scenario, Side::kA, requester(300), responder(300, 500), content);
    flow.start = flow.start + Duration::milliseconds(100) * i;
  }
  return scenario;
}

compress::CodecCounters codec(Network& network, Side side) {
  return network.gateway(side).engine().status(network.loop().now()).codec;
}

void reload(Network& network, Side side, const compress::Bytes& dictionary) {
  config::Gateway next = network.gateway_config(side);
  next.classes = {web(dictionary)};
  network.gateway(side).engine().reconfigure(next, network.loop().now());
}

void run(Network& network) {
  EXPECT_TRUE(network.run_until_flows_over(Instant() + Duration::seconds(600)));
  for (const std::string& broken : check_flows(network)) ADD_FAILURE() << broken;
}

TEST(Dictionary, BothSidesUseItWhereItPays) {
  Tracer tracer;
  Network without(small_objects(1, 50, {}), tracer);
  run(without);
  Network with(small_objects(1, 50, trained(1)), tracer);
  run(with);
  for (const Side side : {Side::kA, Side::kB}) {
    const compress::CodecCounters plain = codec(without, side), trained = codec(with, side);
    EXPECT_EQ(plain.plain_bytes, trained.plain_bytes);
    EXPECT_EQ(plain.dictionary_blocks, 0U);
    EXPECT_EQ(trained.dictionary_blocks, trained.compressed_blocks);
    EXPECT_GE(trained.dictionary_blocks, 50U);
    EXPECT_LT(2 * trained.encoded_bytes, plain.encoded_bytes) << plain.plain_bytes;
  }
}

TEST(Dictionary, ThatDoesNotFitIsLeftAlone) {
  Tracer tracer;
  Network without(small_objects(5, 50, {}, {}, Content::kText), tracer);
  run(without);
  Network with(small_objects(5, 50, trained(1), {}, Content::kText), tracer);
  run(with);
  EXPECT_EQ(with.gateway(Side::kB).engine().peers()[0].dictionaries, 1U);
  for (const Side side : {Side::kA, Side::kB}) {
    EXPECT_EQ(codec(with, side).dictionary_blocks, 0U);
    EXPECT_EQ(codec(with, side).encoded_bytes, codec(without, side).encoded_bytes);
  }
}

// The first object is of other content. It says nothing about later objects.
TEST(Dictionary, AForeignObjectDoesNotSpoilIt) {
  Tracer tracer;
  Scenario scenario = small_objects(6, 100, trained(1));
  for (FlowSpec& flow : scenario.flows) flow.start = flow.start + Duration::seconds(1);
  add_flow(scenario, Side::kA, requester(900), responder(900, 900), Content::kText);
  Network network(scenario, tracer);
  run(network);
  for (const Side side : {Side::kA, Side::kB})
    EXPECT_GE(codec(network, side).dictionary_blocks, 95U);
}

// Blocks that do not shrink are mixed with blocks that do, and two dictionaries take turns.
TEST(Dictionary, NoiseBetweenDoesNoHarm) {
  Tracer tracer;
  Scenario scenario = small_objects(7, 150, trained(1));
  config::TrafficClass other = web(trained(2));
  other.name = "other";
  scenario.classes.push_back(other);
  config::Rule rule = scenario.rules[0];
  rule.compress = scenario.rules[0].compress = config::Compress::kOn;
  rule.traffic_class = "other";
  rule.match.port = {{81, 81}};
  scenario.rules.insert(scenario.rules.begin(), rule);
  for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
    scenario.flows[i].server_port = static_cast<std::uint16_t>(80 + i % 2);
  }
  for (const std::uint16_t port : {std::uint16_t{80}, std::uint16_t{81}}) {
    for (int i = 0; i < 50; ++i) {
      FlowSpec& noise =
          add_flow(scenario, Side::kA, requester(300), responder(300, 500), Content::kRandom);
      noise.server_port = port;
      noise.start = noise.start + Duration::milliseconds(300 * i + 50);
    }
  }
  Network network(scenario, tracer);
  run(network);
  EXPECT_GE(codec(network, Side::kB).dictionary_blocks, 140U);
}

TEST(Dictionary, IsUsedOnlyTowardsAPeerThatHasIt) {
  Tracer tracer;
  Network network(small_objects(2, 20, trained(1)), tracer);
  ASSERT_TRUE(network.run_until_peers_alive(Instant() + Duration::seconds(4)));
  reload(network, Side::kB, trained(2));
  run(network);
  EXPECT_EQ(network.gateway(Side::kA).engine().peers()[0].dictionaries, 0U);
  EXPECT_EQ(network.gateway(Side::kB).engine().peers()[0].dictionaries, 0U);
  for (const Side side : {Side::kA, Side::kB}) {
    EXPECT_GE(codec(network, side).compressed_blocks, 1U);
    EXPECT_EQ(codec(network, side).dictionary_blocks, 0U);
  }
}

// While flows go on over a link with loss, the dictionary is exchanged at one gateway, then at the
// other, removed and restored.
TEST(Dictionary, MayBeExchangedUnderLoad) {
  const compress::Bytes first = trained(1), second = trained(2);
  Tracer tracer;
  LinkSpec link;
  link.rate = BitRate::bits_per_second(10'000'000);
  link.loss = 0.05;
  Scenario scenario = small_objects(3, 200, first, link);
  add_flow(scenario, Side::kA, requester(300), responder(300, 200'000'000), Content::kAnswers);
  for (int i = 0; i < 100; ++i) {
    FlowSpec& noise =
        add_flow(scenario, Side::kA, requester(300), responder(300, 500), Content::kRandom);
    noise.start = noise.start + Duration::milliseconds(200 * i + 50);
  }
  scenario.rules[0].compress = config::Compress::kOn;
  const std::size_t bulk = 200;
  Network network(scenario, tracer);
  network.loop().run_until(Instant() + Duration::seconds(8));
  const std::vector<std::pair<Side, compress::Bytes>> steps{{Side::kA, second}, {Side::kB, second},
                                                            {Side::kB, {}},     {Side::kA, first},
                                                            {Side::kB, first},  {Side::kA, first}};
  for (const auto& [side, dictionary] : steps) {
    reload(network, side, dictionary);
    network.run_for(Duration::milliseconds(1500));
  }
  EXPECT_FALSE(network.flow(bulk).over());
  EXPECT_EQ(network.gateway(Side::kA).engine().peers()[0].dictionaries, 1U);
  const std::uint64_t before = codec(network, Side::kB).dictionary_blocks;
  EXPECT_GE(before, 20U);
  run(network);
  EXPECT_GT(codec(network, Side::kB).dictionary_blocks, before);
}

TEST(Dictionary, IsAgreedUponAnewAfterARestart) {
  Tracer tracer;
  Scenario scenario = small_objects(4, 1, trained(1));
  scenario.restarts = {
      {.side = Side::kB, .when = Instant() + Duration::seconds(8), .down = Duration::seconds(2)}};
  Network network(scenario, tracer);
  network.loop().run_until(Instant() + Duration::milliseconds(9'500));
  EXPECT_EQ(network.gateway(Side::kA).engine().peers()[0].dictionaries, 1U) << "only silent yet";
  network.loop().run_until(Instant() + Duration::seconds(15));
  EXPECT_EQ(network.gateway(Side::kA).engine().peers()[0].dictionaries, 1U);
  EXPECT_EQ(network.gateway(Side::kB).engine().peers()[0].dictionaries, 1U);
  FlowSpec later = network.spec(0);
  later.start = network.loop().now();
  network.open(later);
  run(network);
  EXPECT_EQ(codec(network, Side::kB).dictionary_blocks, 1U);
}

}  // namespace
}  // namespace satrelay::sim::dictionary_test
