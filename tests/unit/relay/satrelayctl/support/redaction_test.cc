#include "relay/satrelayctl/support/redaction.h"

#include <gtest/gtest.h>

namespace satrelay::ctl::redaction_test {
namespace {

std::string shown(std::string_view text) { return without_secrets(text).text; }

TEST(Redaction, LeavesAConfigurationWithoutSecretsAsItIs) {
  constexpr std::string_view kText =
      "# our gateway\r\n"
      "security: {psk_file: /etc/satrelay/psk}\n"
      "peers:\n"
      "  - name: ship-1\n"
      "    address: 2001:db8::1\n"
      "    psk_file: \"/etc/satrelay/keys/ship\"\n"
      "rules:\n"
      "  - {match: {destination: [203.0.113.0/24]}, action: accelerate}\n"
      "access: {control_group: operators, bypass: keyboard}\n"
      "dictionary: /var/lib/satrelay/Dictionaries/Made2026/web-and-mail-of-the-ship\n"
      "\n"
      "last line without an end";
  const Redacted redacted = without_secrets(kText);
  EXPECT_EQ(redacted.text, kText);
  EXPECT_EQ(redacted.secrets, 0U);
}

TEST(Redaction, ReplacesTheValueOfAKeyThatSaysSo) {
  EXPECT_EQ(shown("psk: abc\n"), "psk: LEFT-OUT\n");
  EXPECT_EQ(shown("  api_token : 'a b' # new\r\n"), "  api_token : LEFT-OUT # new\r\n");
  EXPECT_EQ(shown("psk: 'it''s me'\n"), "psk: LEFT-OUT\n");
  EXPECT_EQ(shown("{name: a, password: \"x, \\\" }y\", port: 1}"),
            "{name: a, password: LEFT-OUT, port: 1}");
  EXPECT_EQ(shown("# Private-Key: hello world # and so on"), "# Private-Key: LEFT-OUT # and so on");
  EXPECT_EQ(shown("\"psk\": x"), "\"psk\": LEFT-OUT");
  EXPECT_EQ(shown("secret:tight"), "secret:LEFT-OUT");
  const Redacted both = without_secrets("{psk: a, keys: {secret: b, psk_file: c}}");
  EXPECT_EQ(both.text, "{psk: LEFT-OUT, keys: {secret: LEFT-OUT, psk_file: c}}");
  EXPECT_EQ(both.secrets, 2U);
}

TEST(Redaction, ReplacesWhatStandsBelowSuchAKey) {
  EXPECT_EQ(shown("a: 1\n  psk: |\n    first\n\n    second\n  next: 2\n"),
            "a: 1\n  psk: LEFT-OUT\n\n\n\n  next: 2\n");
  EXPECT_EQ(shown("tokens:\n  - one\n  - two\nport: 1\n"), "tokens: LEFT-OUT\n\n\nport: 1\n");
}

TEST(Redaction, ReplacesWhatLooksDrawnAtRandom) {
  EXPECT_EQ(shown("note: 00112233445566778899AABBCCDDEEFF."), "note: LEFT-OUT.");
  EXPECT_EQ(shown("note: 00112233445566778899AABBCCDDEEF."),
            "note: 00112233445566778899AABBCCDDEEF.");
  EXPECT_EQ(shown("x [QWxhZGRpbjpvcGVuIHNlc2FtZQ0123456789abcdEF==]"), "x [LEFT-OUT]");
}

TEST(Redaction, ReplacesPemBlocksAndPasswordsOfAddresses) {
  EXPECT_EQ(shown("a\n-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nb\n"),
            "a\nLEFT-OUT\n\n\nb\n");
  EXPECT_EQ(shown("url: https://ann:pw@example.net/x"), "url: https://ann:LEFT-OUT@example.net/x");
  EXPECT_EQ(shown("url: https://example.net:80/a@b"), "url: https://example.net:80/a@b");
}

// Damaged text must not let a secret through.
TEST(Redaction, TakesAnyBytes) {
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown("psk:"), "psk: LEFT-OUT");
  EXPECT_EQ(shown("psk: \"open"), "psk: LEFT-OUT");
  EXPECT_EQ(shown("psk: \"open\\"), "psk: LEFT-OUT");
  EXPECT_EQ(shown("-----BEGIN X\nabc"), "LEFT-OUT\n");
  EXPECT_EQ(shown(std::string_view(":\0: ://@:", 9)), std::string(":\0: ://@:", 9));
}

}  // namespace
}  // namespace satrelay::ctl::redaction_test
