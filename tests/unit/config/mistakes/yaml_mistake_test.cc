// Mistakes in the syntax of YAML are told at the line that has them, with a cure.
#include "config/mistakes/yaml_mistake.h"

#include <gtest/gtest.h>

#include <string>

#include "config/readers/loader.h"

namespace satrelay::config::yaml_mistake_test {
namespace {

std::string told(const std::string& text) {
  try {
    parse_gateway(text, "g");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(YamlMistakes, ATabIsNamedWhereItIs) {
  EXPECT_EQ(told("ports:\n  lan:\n \tinterface: a\n"),
            "g:3:2: is indented with a tab; indent with blanks");
  EXPECT_EQ(told("ports:\n\tlan: a\n  wan: b\n"),
            "g:2:1: is indented with a tab; indent with blanks");
}

TEST(YamlMistakes, AColonIsMissedInTheLineThatLacksIt) {
  EXPECT_EQ(told("links:\n  sat:\n    send_rate 50Mbit # fast\n\n    overhead: ip\n"),
            "g:3:5: has no colon; write a colon and a blank behind `send_rate`");
  EXPECT_EQ(told("links:\n  sat:\n    send_rate 50Mbit\n    overhead: ip\n"),
            "g:3:5: has no colon; write a colon and a blank behind `send_rate`");
  EXPECT_EQ(told("log: info\nports\n  lan: x\n"),
            "g:2:1: has no colon; write a colon and a blank behind `ports`");
  EXPECT_EQ(told("log:info\ntcp: {}\n"),
            "g:1:1: has no blank behind the colon; write a blank behind `log:`");
}

TEST(YamlMistakes, NoMessageHasASecret) {
  const std::string secret = "a0" + std::string(62, '1');
  EXPECT_EQ(told("security:" + secret + "\nlog: info\n"),
            "g:1:1: has no blank behind the colon; write a blank behind `security:`");
  EXPECT_EQ(told("security:\n  psk_file " + secret + "\n  a: 1\n"),
            "g:2:3: has no colon; write a colon and a blank behind `psk_file`");
  EXPECT_EQ(told("security:\n  " + secret + "\n  psk_file: /p\n"),
            "g:2:3: has no colon; write a colon and a blank behind the key");
  EXPECT_EQ(told(secret + ":x\nlog: info\n"),
            "g:1:1: has no blank behind the colon; write a blank behind it");
  for (const std::string& text :
       {"security: {" + secret + ": 1}", "security: {" + secret + ": 1, " + secret + ": 2}",
        secret + ": 1", "links: {" + secret + ": {send_rate: 1Mbit, receive_rate: 1Mbit}}",
        "classes: {" + secret + ": {}}",
        "classes: {" + secret + ": {}}\nrules: [{action: drop, class: c}]", "security: " + secret,
        "security: {psk_file: " + secret + "}", "security: *" + secret, "%YAML " + secret,
        "security: !" + secret, "security: [" + secret, "security: {" + secret,
        "security: \"" + secret, "log: " + secret}) {
    try {
      parse_gateway(text + "\n", "g");
      ADD_FAILURE() << text;
    } catch (const ConfigError& error) {
      for (const std::string& line : lines_of(error)) {
        EXPECT_EQ(line.find(secret.substr(0, 16)), std::string::npos) << line;
      }
    }
  }
}

TEST(YamlMistakes, OthersHaveACureToo) {
  EXPECT_EQ(told("ports:\n  lan: {}\n wan: {}\n"),
            "g:3:2: is not YAML: end of map not found; indent this line as the other lines of its "
            "map");
  EXPECT_EQ(told("ports: {lan: {}\nlog: info\n"),
            "g:2:1: is not YAML: end of map flow not found; put a comma between two entries, and } "
            "behind the last one");
  EXPECT_EQ(told("ports: {lan: [\n"),
            "g:2:1: is not YAML: end of sequence flow not found; put a comma between two items, "
            "and ] behind the last one");
  EXPECT_EQ(told("log: *level\n"),
            "g:1:6: is not YAML: the referenced anchor is not defined; write the value itself, or "
            "&NAME before the value that *NAME means");
  EXPECT_EQ(told("]\n"),
            "g:1:1: is not YAML: illegal flow end; remove this ] or }, or write the [ or { that it "
            "ends");
  EXPECT_EQ(told("log: info\rtcp: {}\r"),
            "g:1:14: has lines that end with CR only; save the file with LF as the end of a line");
}

// yaml-cpp reads empty documents without end before such a comma, so this test would not end.
TEST(YamlMistakes, ACommaBeforeTheFirstKeyEndsTheReading) {
  const std::string comma = "has a comma before the key; remove the comma";
  EXPECT_EQ(told(",a: 1\n"), "g:1:1: " + comma);
  EXPECT_EQ(told(","), "g:1:1: " + comma);
  EXPECT_EQ(told("\xef\xbb\xbf,a: 1\n"), "g:1:1: " + comma);
  EXPECT_EQ(told("# ports\n\n  ,a: 1\n"), "g:3:3: " + comma);
  EXPECT_EQ(told("%YAML 1.2\n---\n,a: 1\n"), "g:3:1: " + comma);
  EXPECT_EQ(told("--- ,a: 1\n"), "g:1:5: " + comma);
  EXPECT_EQ(told("&anchor\n,a: 1\n"), "g:2:1: " + comma);
  EXPECT_EQ(told("log: info\n,tcp: {}\n"), "g:2:1: " + comma);
  const std::string wide("\xff\xfe,\0a\0", 6);
  EXPECT_EQ(told(wide), "g:1:1: " + comma);
}

TEST(YamlMistakes, ASecondDocumentIsToldAndNotRead) {
  const std::string second = "a second document begins here; write one document a file";
  EXPECT_EQ(told("log: info\n---\nlog: info\n"), "g:3:1: " + second);
  EXPECT_EQ(told("log: info\n---\nlog: [\n"), "g:3:1: " + second);
  EXPECT_EQ(told("log: info\n...\n,\n"), "g:3:1: has a comma before the key; remove the comma");
}

TEST(YamlMistakes, OctetsOfZeroAreNoText) {
  const std::string zero(1, '\0');
  EXPECT_EQ(told("log: info\ntcp: a" + zero + "b\n"),
            "g:2:7: has an octet of zero, so the file is damaged or no text; write it again");
  EXPECT_EQ(told(std::string(512, '\0')),
            "g:1:1: has an octet of zero, so the file is damaged or no text; write it again");
  // UTF-16 has such octets, and is read as text.
  const std::string wide("\xff\xfel\0o\0g\0:\0 \0[\0", 14);
  EXPECT_EQ(told(wide).find("octet"), std::string::npos) << told(wide);
}

// The lines of a hostile text are only read.
TEST(YamlMistakes, LinesThatAreNotThereAreNoMistakeOfTheProgram) {
  EXPECT_EQ(explain_yaml("", {7, 1}, "x").message, "is not YAML: x");
  EXPECT_EQ(explain_yaml("a", {0, 0}, "illegal map value").message,
            "has no colon; write a colon and a blank behind `a`");
}

}  // namespace
}  // namespace satrelay::config::yaml_mistake_test
