// Where a gateway's journal of its flows (relay/gateway/recovery/flow_journal.h) outlives its
// process: a file of the runtime directory, in memory, which is mapped, so that writing a record
// costs no system call and kill -9 loses none; and, if the operator wants that, a copy on a disk,
// which also outlives the machine's power.
//
//   octet  0        8          12       16            24           4096
//        +--------+----------+--------+-------------+-----------+------+----------------------
//        | magic  | version 1| record | records     | last look | 0    | records of 64 octets
//        |        |          | = 64   |             | (ns, UTC) |      |
//        +--------+----------+--------+-------------+-----------+------+----------------------
//
// Numbers have the machine's byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"

namespace satrelay::satrelayd {

class JournalFile {
 public:
  struct Where {
    std::filesystem::path file;
    std::filesystem::path copy;  // empty: none
  };
  struct Limits {
    std::uint32_t flows = 0;
    Duration oldest;  // what was written longer ago is of no use
  };

  // Takes over the records of the newer of the two. `now`: UTC, nanoseconds. Throws
  // std::system_error if a file cannot be made.
  JournalFile(const Where& where, const Limits& limits, std::uint64_t now);
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();  // removes the file of the runtime directory if no flow is left in it

  MutableBytes records() { return mapped_.subspan(kHeaderSize); }
  // What was found at the start, a sentence.
  const std::string& found() const { return found_; }

  // To be called about once a second, by one thread of its own: tells the file that the gateway
  // lives, and writes to the copy what has changed. Throws std::system_error.
  void look_after(std::uint64_t now);

  static constexpr std::size_t kHeaderSize = 4096;
  // A copy in which nothing changes is told no more often: disks wear.
  static constexpr Duration kQuietCopy = Duration::seconds(60);

 private:
  struct Found {
    std::uint64_t last_look = 0;
    std::vector<std::byte> records;
  };
  static Found read(const std::filesystem::path& path);
  void take_over(const Found& found, const Limits& limits, std::uint64_t now);
  void begin_copy();
  bool copy_page(std::size_t at);

  Where where_;
  MutableBytes mapped_;
  int copy_ = -1;
  std::vector<std::byte> copied_;  // what stands in the copy
  std::uint64_t copied_at_ = 0;
  std::string found_;
};

}  // namespace satrelay::satrelayd
