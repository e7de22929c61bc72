#include "relay/metrics/webhook_counters.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "relay/metrics/exposition.h"

namespace satrelay::metrics::webhook_counters_test {
namespace {

std::string page() {
  nlohmann::ordered_json webhooks = nlohmann::ordered_json::array();
  webhooks.push_back({{"name", "pager"}});
  for (const auto& field : WebhookCounters::kFields) webhooks.back()[field.name] = 7U;
  return expose({}, ExpositionFormat::kText, webhooks);
}

std::string name_of(const CounterField<WebhookCounters>& field) {
  const std::string name = std::string("satrelay_webhook_") + field.name;
  return field.kind == CounterKind::kCounter ? name + "_total" : name;
}

TEST(WebhookCounters, AreMetricsEvenIfTheGatewayIsAway) {
  const std::string text = page();
  for (const auto& field : WebhookCounters::kFields) {
    const std::string sample = '\n' + name_of(field) + "{webhook=\"pager\"} 7\n";
    EXPECT_NE(text.find(sample), std::string::npos) << sample << text;
  }
}

TEST(WebhookCounters, AreDocumented) {
  std::ifstream file(SATRELAY_DOCS "/alarms.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const auto& field : WebhookCounters::kFields) {
    EXPECT_NE(text.find("| `" + name_of(field) + "` |"), std::string::npos) << name_of(field);
  }
}

}  // namespace
}  // namespace satrelay::metrics::webhook_counters_test
