// Nanoseconds to find the first rule that matches. Compared with trying rule by rule, and with
// DPDK's ACL library with the same rules.
#include <rte_acl.h>
#include <rte_byteorder.h>
#include <rte_eal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/random.h"
#include "relay/gateway/rules/explanation.h"
#include "relay/gateway/rules/rule_index.h"
#include "tests/bench/timed.h"

namespace satrelay::bench {
namespace {

using config::Rule;
using gateway::PolicyKey;

constexpr std::size_t kKeys =
    // Looked up in turn. That is more than the caches next to the core hold.
    4096;

struct Case {
  const char* name;
  Rule (*rule)(Random& random, std::size_t number);
  PolicyKey (*key)(Random& random, std::size_t rules);
};

IpPrefix v4_network(std::size_t number) {
  return {IpAddress::v4(
              {10, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number), 0}),
          24};
}
IpAddress v4_host(std::size_t network, Random& random) {
  return IpAddress::v4({10, static_cast<std::uint8_t>(network >> 8),
                        static_cast<std::uint8_t>(network),
                        static_cast<std::uint8_t>(random.next())});
}
IpAddress v6_host(std::size_t network, std::uint8_t last) {
  return IpAddress::v6({0x20, 1, 0xd, 0xb8, 0, static_cast<std::uint8_t>(network >> 8),
                        static_cast<std::uint8_t>(network), 0, 0, 0, 0, 0, 0, 0, 0, last});
}

constexpr std::array<std::uint16_t, 8> kPorts = {22, 25, 53, 80, 443, 445, 3389, 8080};
std::uint16_t any_port(Random& random) { return kPorts[random.below(kPorts.size())]; }

Rule pair_rule(Random& random, std::size_t number) {
  Rule rule;
  rule.match.source = {v4_network(random.below(256))};
  rule.match.destination = {v4_network(number)};
  rule.match.port = {{kPorts[number % kPorts.size()], kPorts[number % kPorts.size()]}};
  rule.match.protocol = {wire::kProtocolTcp};
  return rule;
}
PolicyKey pair_key(Random& random, std::size_t rules) {
  return {.source = v4_host(random.below(256), random),
          .destination = v4_host(random.below(rules), random),
          .port = any_port(random),
          .protocol = wire::kProtocolTcp};
}

Rule destination_rule(Random& /*random*/, std::size_t number) {
  Rule rule;
  rule.match.destination = {v4_network(number)};
  return rule;
}

Rule v6_rule(Random& random, std::size_t number) {
  Rule rule = pair_rule(random, number);
  rule.match.source = {{v6_host(random.below(256), 0), 56}};
  rule.match.destination = {{v6_host(number, 0), 56}};
  return rule;
}
PolicyKey v6_key(Random& random, std::size_t rules) {
  PolicyKey key = pair_key(random, rules);
  key.source = v6_host(random.below(256), 1);
  key.destination = v6_host(random.below(rules), 1);
  return key;
}

// Three quarters of the rules match in each criterion by itself, and no rule matches in all. So
// there are as many candidates as there can be.
Rule crossing_rule(Random& random, std::size_t /*number*/) {
  Rule rule;
  const std::size_t odd = random.below(4);
  const auto other = [&](std::size_t i) { return i == odd ? 1U : 0U; };
  rule.match.source = {{IpAddress::v4({static_cast<std::uint8_t>(10 + other(0)), 0, 0, 0}), 8}};
  rule.match.destination = {
      {IpAddress::v4({static_cast<std::uint8_t>(10 + other(1)), 0, 0, 0}), 8}};
  rule.match.port = {
      {static_cast<std::uint16_t>(80 + other(2)), static_cast<std::uint16_t>(80 + other(2))}};
  rule.match.protocol = {static_cast<std::uint8_t>(wire::kProtocolTcp + other(3))};
  return rule;
}
PolicyKey crossing_key(Random& random, std::size_t /*rules*/) {
  return {.source = v4_host(0, random),
          .destination = v4_host(0, random),
          .port = 80,
          .protocol = wire::kProtocolTcp};
}

constexpr Case kCases[] = {
    {"destination /24", destination_rule, pair_key},
    {"two /24, port, protocol", pair_rule, pair_key},
    {"the same, IPv6 /56", v6_rule, v6_key},
    {"all miss by one of four", crossing_rule, crossing_key},
};

// --- DPDK's ACL library -------------------------------------------------------------------------

struct AclKey {  // In network order.
  std::uint8_t protocol;
  std::uint8_t unused[3];
  std::uint32_t source;
  std::uint32_t destination;
  std::uint16_t source_port;
  std::uint16_t destination_port;
};
constexpr std::size_t kAclFields = 5;
RTE_ACL_RULE_DEF(AclRule, kAclFields);

struct FreeAcl {
  void operator()(rte_acl_ctx* context) const { rte_acl_free(context); }
};
using Acl = std::unique_ptr<rte_acl_ctx, FreeAcl>;

void set_prefix(rte_acl_field& field, const std::vector<IpPrefix>& prefixes) {
  field.value.u32 = 0;
  field.mask_range.u32 = 0;
  if (prefixes.empty()) return;
  field.value.u32 = load_u32(std::as_bytes(std::span(prefixes[0].address.octets())).data());
  field.mask_range.u32 = prefixes[0].length;
}

rte_acl_field_def field_def(std::uint8_t type, std::uint8_t size, std::uint8_t number,
                            std::uint8_t group, std::size_t offset) {
  return {type, size, number, group, static_cast<std::uint32_t>(offset)};
}

// Takes IPv4 rules with one value for each criterion; nullptr if DPDK refuses them.
Acl build_acl(const std::vector<Rule>& rules) {
  const rte_acl_param parameters{"bench", 0, RTE_ACL_RULE_SZ(kAclFields),
                                 static_cast<std::uint32_t>(rules.size())};
  Acl acl(rte_acl_create(&parameters));
  if (!acl) return nullptr;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    AclRule rule{};
    rule.data.category_mask = 1;
    rule.data.priority = static_cast<std::int32_t>(rules.size() - i);
    rule.data.userdata = static_cast<std::uint32_t>(i + 1);
    const config::Match& match = rules[i].match;
    if (!match.protocol.empty()) {
      rule.field[0].value.u8 = match.protocol[0];
      rule.field[0].mask_range.u8 = 0xff;
    }
    set_prefix(rule.field[1], match.source);
    set_prefix(rule.field[2], match.destination);
    rule.field[3].mask_range.u16 = 65535;
    rule.field[4].value.u16 = match.port.empty() ? 0 : match.port[0].first;
    rule.field[4].mask_range.u16 = match.port.empty() ? 65535 : match.port[0].last;
    if (rte_acl_add_rules(acl.get(), reinterpret_cast<const rte_acl_rule*>(&rule), 1) != 0) {
      return nullptr;
    }
  }
  rte_acl_config layout{};
  layout.num_categories = 1;
  layout.num_fields = kAclFields;
  layout.defs[0] = field_def(RTE_ACL_FIELD_TYPE_BITMASK, 1, 0, 0, offsetof(AclKey, protocol));
  layout.defs[1] = field_def(RTE_ACL_FIELD_TYPE_MASK, 4, 1, 1, offsetof(AclKey, source));
  layout.defs[2] = field_def(RTE_ACL_FIELD_TYPE_MASK, 4, 2, 2, offsetof(AclKey, destination));
  layout.defs[3] = field_def(RTE_ACL_FIELD_TYPE_RANGE, 2, 3, 3, offsetof(AclKey, source_port));
  layout.defs[4] = field_def(RTE_ACL_FIELD_TYPE_RANGE, 2, 4, 3, offsetof(AclKey, destination_port));
  return rte_acl_build(acl.get(), &layout) == 0 ? std::move(acl) : nullptr;
}

AclKey acl_key(const PolicyKey& key) {
  const auto number = [](const IpAddress& address) {
    return rte_cpu_to_be_32(load_u32(std::as_bytes(std::span(address.octets())).data()));
  };
  return {
      key.protocol, {}, number(key.source), number(key.destination), 0, rte_cpu_to_be_16(key.port)};
}

// For packets one by one, as a gateway's new connections come, and for bursts.
struct AclTimes {
  double one = 0;
  double burst = 0;
  bool agrees = true;
};

AclTimes time_acl(rte_acl_ctx* acl, const std::vector<PolicyKey>& keys,
                  const gateway::RuleIndex& index, std::size_t calls) {
  constexpr std::uint32_t kBurst = 16;
  std::vector<AclKey> data;
  std::vector<const std::uint8_t*> pointers;
  for (const PolicyKey& key : keys) data.push_back(acl_key(key));
  for (const AclKey& key : data) pointers.push_back(reinterpret_cast<const std::uint8_t*>(&key));
  std::array<std::uint32_t, kBurst> results{};
  AclTimes times;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    rte_acl_classify(acl, &pointers[i], results.data(), 1, 1);
    const auto found = index.first_match(keys[i]);
    if (results[0] != (found ? *found + 1 : 0)) times.agrees = false;
  }
  times.one = timed(calls, [&](std::size_t i) {
    rte_acl_classify(acl, &pointers[i % kKeys], results.data(), 1, 1);
    keep(results);
  });
  times.burst =
      timed(calls / kBurst,
            [&](std::size_t i) {
              rte_acl_classify(acl, &pointers[i * kBurst % kKeys], results.data(), kBurst, 1);
              keep(results);
            }) /
      kBurst;
  return times;
}

// --- a row --------------------------------------------------------------------------------------

bool measure(const Case& which, std::size_t size, std::size_t calls) {
  Random random(size);
  std::vector<Rule> rules;
  for (std::size_t i = 0; i < size; ++i) rules.push_back(which.rule(random, i));
  std::vector<PolicyKey> keys;
  for (std::size_t i = 0; i < kKeys; ++i) keys.push_back(which.key(random, size));

  const auto begin = std::chrono::steady_clock::now();
  const gateway::RuleIndex index(rules, {});
  const std::chrono::duration<double, std::milli> built = std::chrono::steady_clock::now() - begin;
  const double indexed =
      timed(calls, [&](std::size_t i) { keep(index.first_match(keys[i % kKeys])); });
  const auto one_by_one = [&](const PolicyKey& key) {
    return std::ranges::find_if(
        rules, [&](const Rule& rule) { return !gateway::first_miss(rule, key, {}); });
  };
  const double tried = timed(
      std::max<std::size_t>(calls / size, 64),
      [&](std::size_t i) { keep(one_by_one(keys[i % kKeys])); }, /*batch=*/8);
  std::printf("%-24s %6zu %9.0f %11.1f %12.0f", which.name, size, indexed, built.count(), tried);
  bool agrees = true;
  if (keys[0].source.is_v4()) {
    if (const Acl acl = build_acl(rules)) {
      const AclTimes times = time_acl(acl.get(), keys, index, calls);
      std::printf(" %9.0f %9.0f", times.one, times.burst);
      agrees = times.agrees;
    } else {
      std::printf(" %19s", "not built");
    }
  }
  std::printf("\n");
  return agrees;
}

bool start_dpdk() {
  std::array<const char*, 6> arguments = {"bench_policy", "--no-huge",      "--no-shconf",
                                          "--no-pci",     "--no-telemetry", "-m2048"};
  std::array<char*, arguments.size()> argv{};
  for (std::size_t i = 0; i < argv.size(); ++i) argv[i] = const_cast<char*>(arguments[i]);
  return rte_eal_init(static_cast<int>(argv.size()), argv.data()) >= 0;
}

int run(int argc, char** argv) {
  CLI::App app("Nanoseconds of finding the first rule that matches", "bench_policy");
  bool quick = false;
  app.add_flag("--quick", quick, "well under a second, for figures that mean little");
  CLI11_PARSE(app, argc, argv);
  if (!start_dpdk()) {
    std::fprintf(stderr, "bench_policy: DPDK does not start\n");
    return 1;
  }
  std::printf(
      "Nanoseconds a packet, of %zu packets in turn. index: ours; then each rule in turn; then\n"
      "rte_acl_classify with one packet, and a packet of 16. build: milliseconds.\n\n",
      kKeys);
  std::printf("%-24s %6s %9s %11s %12s %9s %9s\n", "rules of", "number", "index", "build",
              "in turn", "acl", "acl of 16");
  bool agree = true;
  for (const Case& which : kCases) {
    for (const std::size_t size : {std::size_t{10}, std::size_t{1000}, std::size_t{10'000}}) {
      if (quick && size > 10) continue;
      agree = measure(which, size, quick ? 1000 : 2'000'000) && agree;
    }
  }
  if (!agree) std::fprintf(stderr, "bench_policy: the index and rte_acl disagree\n");
  return agree ? 0 : 1;
}

}  // namespace
}  // namespace satrelay::bench

int main(int argc, char** argv) {
  try {
    return satrelay::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_policy: %s\n", error.what());
    return 1;
  }
}
