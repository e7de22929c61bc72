#include "relay/satpanel/webhooks/signature.h"

#include <gtest/gtest.h>

namespace satrelay::panel::signature_test {
namespace {

// From Python's hmac module: hmac.new(b"0123456789abcdef", b"1700000000.{}", "sha256").
TEST(Signature, IsHmacSha256OfTimestampAndBody) {
  EXPECT_EQ(sign("0123456789abcdef", {.timestamp = "1700000000", .body = "{}"}),
            "e4f8e2ecae2295b2ddb2f0b5584c8275e226c0ebe9b3b819e70156bb67122e3e");
}

TEST(Signature, ChangesWithSecretTimestampAndBody) {
  const std::string signature = sign("0123456789abcdef", {.timestamp = "1700000000", .body = "{}"});
  EXPECT_NE(sign("0123456789abcdee", {.timestamp = "1700000000", .body = "{}"}), signature);
  EXPECT_NE(sign("0123456789abcdef", {.timestamp = "1700000001", .body = "{}"}), signature);
  EXPECT_NE(sign("0123456789abcdef", {.timestamp = "1700000000", .body = "{ }"}), signature);
}

}  // namespace
}  // namespace satrelay::panel::signature_test
