#include "relay/metrics/reply_shapes.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace satrelay::metrics::reply_shapes_test {
namespace {

TEST(ReplyShapes, WhatOneIsMadeOfIsThere) {
  for (const char* shape :
       {"status", "port", "peer", "link", "rule", "class", "flow", "flow_summary",
        "bridged_connection", "counters", "records", "explanation"}) {
    const auto fields = fields_of(shape);
    ASSERT_FALSE(fields.empty()) << shape;
    std::set<std::string_view> names;
    for (const ReplyField& field : fields) {
      EXPECT_TRUE(names.insert(field.name).second) << shape << " has " << field.name << " twice";
      if (!field.shape.empty()) {
        EXPECT_FALSE(fields_of(field.shape).empty()) << shape << ": " << field.shape;
      }
    }
  }
}

TEST(ReplyShapes, OneThatIsNotThereHasNoFields) { EXPECT_TRUE(fields_of("dream").empty()); }

}  // namespace
}  // namespace satrelay::metrics::reply_shapes_test
