#include "relay/satpanel/http/answer_schema.h"

#include <gtest/gtest.h>

namespace satrelay::panel::answer_schema_test {
namespace {

using Json = nlohmann::ordered_json;

TEST(AnswerSchema, APageHasEntriesOfItsShape) {
  const Json page = schema_of({"link", AnswerSchema::Form::kPage});
  EXPECT_EQ(page["properties"]["entries"]["items"]["$ref"], "#/components/schemas/link");
  EXPECT_EQ(page["required"], Json::parse(R"(["total", "first", "entries"])"));
  EXPECT_EQ(schema_of({"status"}), Json::parse(R"({"$ref": "#/components/schemas/status"})"));
}

TEST(AnswerSchema, AShapeBringsThoseWithinIt) {
  Json schemas = Json::object();
  add_schemas("status", schemas);
  for (const char* name : {"status", "tcp", "codec", "worker"}) {
    ASSERT_TRUE(schemas.contains(name)) << name;
    EXPECT_EQ(schemas[name]["type"], "object");
  }
  const Json& status = schemas["status"]["properties"];
  EXPECT_EQ(status["version"]["type"], "string");
  EXPECT_EQ(status["flows"], Json::parse(R"({"type": "integer", "minimum": 0})"));
  EXPECT_EQ(status["tcp"]["$ref"], "#/components/schemas/tcp");
  EXPECT_EQ(status["peers"]["additionalProperties"]["type"], "integer");
  EXPECT_EQ(status["workers"]["additionalProperties"]["$ref"], "#/components/schemas/worker");
}

TEST(AnswerSchema, WhatMayNotBeMeasuredMayBeNull) {
  Json schemas = Json::object();
  add_schemas("peer", schemas);
  EXPECT_EQ(schemas["peer"]["properties"]["rtt_us"]["type"], Json::parse(R"(["integer", "null"])"));
  EXPECT_EQ(schemas["peer"]["properties"]["streams"]["type"], "integer");
}

}  // namespace
}  // namespace satrelay::panel::answer_schema_test
