#include "relay/satpanel/snmp/mib.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace satrelay::panel::mib_test {
namespace {

std::string mib() {
  std::ifstream file(SATRELAY_MIB);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "wrong_key" becomes wrongKey: names in SMIv2 have no underscores.
std::string camel(std::string_view words) {
  std::string name;
  bool begins = false;
  for (const char c : words) {
    if (c == '_') {
      begins = true;
      continue;
    }
    name += begins ? static_cast<char>(c - 'a' + 'A') : c;
    begins = false;
  }
  return name;
}

std::string syntax_of(const MibObject& object) {
  switch (object.syntax) {
    case Syntax::kText:
      return "SatrelayText";
    case Syntax::kGauge:
      return "Gauge32";
    case Syntax::kCounter:
      return "Counter64";
    case Syntax::kTicks:
      return "TimeTicks";
    case Syntax::kDateAndTime:
      return "DateAndTime";
    case Syntax::kInteger:
      break;
  }
  std::string syntax = "INTEGER { other(1)";
  for (std::size_t i = 0; i < object.words.size(); ++i) {
    syntax += fmt::format(", {}({})", camel(object.words[i]), i + 2);
  }
  return syntax + " }";
}

std::string text_of(const MibObject& object, const std::string& parent, const char* access) {
  return fmt::format(
      "{} OBJECT-TYPE\n    SYNTAX      {}\n    MAX-ACCESS  {}\n    STATUS      current\n"
      "    DESCRIPTION\n        \"{}\"\n    ::= {{ {} {} }}\n\n",
      object.name, syntax_of(object), access, object.help, parent, object.number);
}

std::string capital(std::string name) {
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return name;
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",\n") + ("        " + name);
  return text;
}

std::vector<MibObject> columns_of(const MibTable& table) {
  std::vector<MibObject> columns(table.columns.begin(), table.columns.end());
  columns.insert(columns.end(), table.counters.begin(), table.counters.end());
  return columns;
}

std::string text_of(const MibTable& table, const char* help, const char* index,
                    const char* index_syntax) {
  const std::string prefix(table.prefix);
  const std::string entry = prefix + "Entry";
  std::string text = fmt::format(
      "{0}Table OBJECT-TYPE\n    SYNTAX      SEQUENCE OF {1}\n    MAX-ACCESS  not-accessible\n"
      "    STATUS      current\n    DESCRIPTION\n        \"{2}\"\n"
      "    ::= {{ satrelayObjects {3} }}\n\n",
      prefix, capital(entry), help, table.number);
  text += fmt::format(
      "{0} OBJECT-TYPE\n    SYNTAX      {1}\n    MAX-ACCESS  not-accessible\n"
      "    STATUS      current\n    DESCRIPTION\n        \"a row\"\n    INDEX       {{ {2}{3} }}\n"
      "    ::= {{ {2}Table 1 }}\n\n",
      entry, capital(entry), prefix, index);
  std::vector<std::string> members{fmt::format("{}{} {}", prefix, index, index_syntax)};
  std::string objects = fmt::format(
      "{}{} OBJECT-TYPE\n    SYNTAX      {}\n    MAX-ACCESS  not-accessible\n"
      "    STATUS      current\n    DESCRIPTION\n        \"the key of the row\"\n"
      "    ::= {{ {} 1 }}\n\n",
      prefix, index, index_syntax, entry);
  for (const MibObject& column : columns_of(table)) {
    const bool is_choice = column.syntax == Syntax::kInteger;
    members.push_back(fmt::format("{} {}", column.name, is_choice ? "INTEGER" : syntax_of(column)));
    objects += text_of(column, entry, "read-only");
  }
  return text + fmt::format("{} ::= SEQUENCE {{\n{}\n}}\n\n", capital(entry), list(members)) +
         objects;
}

constexpr const char* kNameSyntax = "SatrelayText (SIZE (1..64))";

// The text between the two lines of the MIB that begin and end the objects.
std::string objects() {
  std::string text;
  for (const MibObject& each : kGatewayScalars)
    text += text_of(each, "satrelayGateway", "read-only");
  text += text_of(kPortTable, "the ports, lan and wan", "Name", kNameSyntax);
  text += text_of(kPeerTable, "the far gateways; the first 500", "Name", kNameSyntax);
  text += text_of(kLinkTable, "the links by which peers are reached", "Name", kNameSyntax);
  text += text_of(kClassTable, "the classes of traffic", "Name", kNameSyntax);
  text += text_of(kAlarmTable, "the open alarms", "Index", "Unsigned32 (1..4294967295)");
  for (const MibObject& each : kEventObjects) {
    text += text_of(each, "satrelayEvent", "accessible-for-notify");
  }
  return text;
}

TEST(Mib, HasTheObjectsOfTheTables) {
  const std::string text = mib();
  const std::string begin = "-- objects\n\n";
  const auto from = text.find(begin);
  const auto to = text.find("-- notifications\n");
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  EXPECT_EQ(text.substr(from + begin.size(), to - from - begin.size()), objects());
}

TEST(Mib, HasEachObjectInAGroup) {
  const std::string text = mib();
  const auto groups = text.find("-- conformance\n");
  ASSERT_NE(groups, std::string::npos);
  const auto expect = [&](std::span<const MibObject> all) {
    for (const MibObject& each : all) {
      const std::string name(each.name);
      EXPECT_TRUE(text.find(' ' + name + ',', groups) != std::string::npos ||
                  text.find(' ' + name + " }", groups) != std::string::npos)
          << name;
    }
  };
  expect(kGatewayScalars);
  expect(kEventObjects);
  for (const MibTable* table :
       {&kPortTable, &kPeerTable, &kLinkTable, &kClassTable, &kAlarmTable}) {
    expect(columns_of(*table));
  }
}

TEST(Mib, GivesNoNumberTwice) {
  for (const MibTable* table :
       {&kPortTable, &kPeerTable, &kLinkTable, &kClassTable, &kAlarmTable}) {
    std::set<std::uint32_t> numbers{1};  // the index
    for (const MibObject& column : columns_of(*table)) {
      EXPECT_TRUE(numbers.insert(column.number).second) << column.name;
    }
  }
}

}  // namespace
}  // namespace satrelay::panel::mib_test
