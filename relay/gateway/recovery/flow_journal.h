// A journal of a gateway's flows, which is read after a crash. It has the 4-tuple of each flow, and
// the Ethernet header of frames to the host. The owner of the engine provides the memory for the
// records, which outlives the engine (relay/satrelayd/reporting/journal_file.h). A record has 64
// octets:
//
//   octet
//   0               16              32      36      42      48         56     58     60
//   +---------------+---------------+-------+-------+-------+----------+------+------+--------+
//   | local address | remote address| ports | dst   | src   | 2 x TPID | IP   | tags | CRC32C |
//   |               |               | 2 x 2 | MAC   | MAC   | and TCI  | 4, 6 | 0..2 | 0..59  |
//   +---------------+---------------+-------+-------+-------+----------+------+------+--------+
//
// The IP version is in octet 56, and octet 57 is zero. All octets of a free record are zero. If the
// gateway stopped while it was writing a record, the CRC does not match, and the record counts as
// free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

class FlowJournal {
 public:
  static constexpr std::size_t kRecordSize = 64;
  using Place = std::uint32_t;
  static constexpr Place kNowhere = 0xffff'ffffU;
  struct Record {
    FlowKey key;
    wire::EthernetHeader to_host;
  };

  // `memory` is aligned to 8 octets, and contains the records of an earlier run, or zeros. If it is
  // empty, no flow is recorded. Another thread may copy the memory at any time, word by word
  // (std::atomic_ref).
  explicit FlowJournal(MutableBytes memory);

  Place places() const { return static_cast<Place>(memory_.size() / kRecordSize); }
  std::optional<Record> read(Place place) const;
  // Returns kNowhere if there is no free record.
  Place keep(const Record& record);
  void change(Place place, const Record& record);  // no effect on kNowhere
  void release(Place place);                       // no effect on kNowhere

 private:
  MutableBytes memory_;
  // The free records in descending order. keep() takes the last entry, which is the lowest record,
  // so that few pages are touched.
  std::vector<Place> free_;
};

}  // namespace satrelay::gateway
