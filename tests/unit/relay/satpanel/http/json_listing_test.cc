#include "relay/satpanel/http/json_listing.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace satrelay::panel::json_listing_test {
namespace {

using Json = nlohmann::ordered_json;

const Json kPeers = Json::parse(R"([
  {"name": "hub", "streams": 7, "counters": {"packets_in": 30}},
  {"name": "Island", "streams": 12, "counters": {"packets_in": 4}},
  {"name": "ship", "streams": 7}
])");

std::vector<std::string> names(const Json& page) {
  std::vector<std::string> found;
  for (const Json& entry : page["entries"]) found.push_back(entry["name"]);
  return found;
}

TEST(JsonListing, LeavesAListAsItIs) {
  const Json page = page_of(kPeers, {});
  EXPECT_EQ(page["total"], 3);
  EXPECT_EQ(names(page), (std::vector<std::string>{"hub", "Island", "ship"}));
}

TEST(JsonListing, SortsByAFieldAndKeepsTheOrderOfEquals) {
  EXPECT_EQ(names(page_of(kPeers, {.sort = "-streams"})),
            (std::vector<std::string>{"Island", "hub", "ship"}));
  EXPECT_EQ(names(page_of(kPeers, {.sort = "streams"})),
            (std::vector<std::string>{"hub", "ship", "Island"}));
  EXPECT_EQ(names(page_of(kPeers, {.sort = "no_such_field"})),
            (std::vector<std::string>{"hub", "Island", "ship"}));
}

TEST(JsonListing, FiltersByTextInWhateverCaseAndByWholeNumbers) {
  EXPECT_EQ(names(page_of(kPeers, {.filter = "ISL"})), std::vector<std::string>{"Island"});
  EXPECT_EQ(names(page_of(kPeers, {.filter = "12"})), std::vector<std::string>{"Island"});
  EXPECT_TRUE(names(page_of(kPeers, {.filter = "1"})).empty());
}

TEST(JsonListing, OrdersIdentifiersByNumberAndFiltersByWholeOnes) {
  const Json flows = Json::parse(R"([
    {"name": "ten", "id": "10"}, {"name": "nine", "id": "9"}, {"name": "eleven", "id": "11"}
  ])");
  EXPECT_EQ(names(page_of(flows, {.sort = "id"})),
            (std::vector<std::string>{"nine", "ten", "eleven"}));
  EXPECT_EQ(names(page_of(flows, {.sort = "-id"})),
            (std::vector<std::string>{"eleven", "ten", "nine"}));
  EXPECT_EQ(names(page_of(flows, {.filter = "10"})), std::vector<std::string>{"ten"});
  EXPECT_TRUE(names(page_of(flows, {.filter = "1"})).empty());
}

TEST(JsonListing, GivesOnePageAndTheNumberOfAll) {
  const Json page = page_of(kPeers, {.first = 1, .count = 1});
  EXPECT_EQ(page["total"], 3);
  EXPECT_EQ(names(page), std::vector<std::string>{"Island"});
  EXPECT_TRUE(page_of(kPeers, {.first = 9})["entries"].empty());
}

TEST(JsonListing, ReadsWhatStandsInAUrl) {
  const ListQuery query = parse_list_query("200", "500", "-age_ms", "hub");
  EXPECT_EQ(query.first, 200U);
  EXPECT_EQ(query.count, 500U);
  EXPECT_EQ(parse_list_query("", "", "", "").count, ListQuery::kUsual);
  for (const char* wrong : {"-1", "501", "1e3", " 1", "x", "99999999999999999999"}) {
    EXPECT_THROW(parse_list_query("", wrong, "", ""), BadRequest) << wrong;
  }
  EXPECT_THROW(parse_list_query("", "", std::string(129, 'a'), ""), BadRequest);
}

}  // namespace
}  // namespace satrelay::panel::json_listing_test
