#include <gtest/gtest.h>

#include <string>

#include "tests/unit/config/one_key.h"

namespace satrelay::config::read_records_test {
namespace {

Records records_of(const std::string& text) {
  return parse_gateway(with_line("records: " + text), "g.yaml").records;
}

std::string error_of(const std::string& text) { return error_with_line("records: " + text); }

TEST(RecordsKey, NothingIsWrittenByDefault) {
  EXPECT_FALSE(parse_gateway(with_line(""), "g.yaml").records.wanted());
}

TEST(RecordsKey, AFileHasDefaults) {
  const Records records = records_of("{file: /var/log/satrelay/flows.json}");
  EXPECT_TRUE(records.wanted());
  EXPECT_EQ(records.file, "/var/log/satrelay/flows.json");
  EXPECT_EQ(records.rotate_size, ByteCount(100'000'000));
  EXPECT_EQ(records.keep, 10U);
  EXPECT_FALSE(records.ipfix);
}

TEST(RecordsKey, EverythingCanBeWritten) {
  const Records records = records_of(
      "{file: /flows, rotate_size: 64kB, keep: 0, ipfix: {collector: '192.0.2.9:2055', "
      "transport: tcp, observation_domain: 4294967295}}");
  EXPECT_EQ(records.rotate_size, ByteCount(64'000));
  EXPECT_EQ(records.keep, 0U);
  EXPECT_EQ(records.ipfix, (IpfixCollector{.address = *IpAddress::parse("192.0.2.9"),
                                           .port = 2055,
                                           .transport = IpfixTransport::kTcp,
                                           .observation_domain = 0xffffffff}));
}

TEST(RecordsKey, ACollectorIsAnAddressWithAPortOrWithout) {
  const auto collector = [](const std::string& text) {
    return *records_of("{ipfix: {collector: '" + text + "'}}").ipfix;
  };
  EXPECT_EQ(collector("192.0.2.9").port, 4739);
  EXPECT_EQ(collector("192.0.2.9").transport, IpfixTransport::kUdp);
  EXPECT_EQ(collector("[2001:db8::9]:99").address, *IpAddress::parse("2001:db8::9"));
  EXPECT_EQ(collector("[2001:db8::9]:99").port, 99);
  EXPECT_EQ(collector("2001:db8::9").address, *IpAddress::parse("2001:db8::9"));
  EXPECT_EQ(collector("[2001:db8::9]").port, 4739);
}

TEST(RecordsKey, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_EQ(error_of("{}"),
            "g.yaml:5:10: records: names neither file nor ipfix, so no record is written; name one "
            "of them");
  EXPECT_EQ(error_of("{file: flows.json}"),
            "g.yaml:5:17: records.file: \"flows.json\" is not the path of a file; write the "
            "absolute path of a file, like /var/log/satrelay/flows.json");
  EXPECT_EQ(error_of("{keep: 3, ipfix: {collector: 192.0.2.9}}"),
            "g.yaml:5:17: records.keep: is of no use without file; write file too, or remove it");
  for (const char* wrong : {"collector.example:4739", "192.0.2.9:", "192.0.2.9:0",
                            "192.0.2.9:65536", "[192.0.2.9", "[2001:db8::9]99", "192.0.2.9:47x"}) {
    EXPECT_NE(error_of("{ipfix: {collector: '" + std::string(wrong) + "'}}")
                  .find("records.ipfix.collector: \"" + std::string(wrong)),
              std::string::npos)
        << wrong;
  }
  EXPECT_EQ(error_of("{ipfix: {transport: udp}}").substr(0, 48),
            "g.yaml:5:18: records.ipfix.collector: is missing");
  EXPECT_EQ(error_of("{ipfix: {collector: 192.0.2.9, transport: sctp}}"),
            "g.yaml:5:52: records.ipfix.transport: \"sctp\" is not known here; allowed: udp, tcp");
  EXPECT_NE(error_of("{file: /f, rotate_size: 1kB}"), "no error");
  EXPECT_EQ(error_of("{ipfix: {collector: '::'}}"),
            "g.yaml:5:30: records.ipfix.collector: :: is the unspecified address; write the "
            "address of the collector");
  EXPECT_EQ(error_of("{ipfix: {collector: 239.0.0.1}}"), "no error");
  EXPECT_EQ(error_of("{ipfix: {collector: 239.0.0.1, transport: tcp}}"),
            "g.yaml:5:30: records.ipfix.collector: 239.0.0.1 is a multicast address, to which TCP "
            "cannot connect; write the address of the collector");
}

}  // namespace
}  // namespace satrelay::config::read_records_test
