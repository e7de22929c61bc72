// Keeps a gateway's journal of its flows (relay/gateway/recovery/flow_journal.h) beyond the end of
// the process. The journal is a file in the runtime directory, which is in memory, and the process
// maps the file. So no system call is needed to write a record, and kill -9 loses no record. If the
// operator configures it, there is also a copy on a disk, which survives a loss of power.
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
    std::filesystem::path copy;  // empty if there is no copy
  };
  struct Limits {
    std::uint32_t flows = 0;
    Duration oldest;  // a journal that is older than this is not used
  };

  // Takes over the records of an earlier run from the newer of the two files. `now` is in
  // nanoseconds, UTC. Throws std::system_error if a file cannot be created.
  JournalFile(const Where& where, const Limits& limits, std::uint64_t now);
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();  // removes the file in the runtime directory if it has no records

  MutableBytes records() { return mapped_.subspan(kHeaderSize); }
  // A sentence that describes the journal that was found at the start.
  const std::string& found() const { return found_; }

  // Writes `now` (UTC, nanoseconds) to the file, and writes changes to the copy. Call this about
  // once a second, on a thread that is not a worker's. Throws std::system_error.
  void look_after(std::uint64_t now);

  static constexpr std::size_t kHeaderSize = 4096;
  // How often the time is written to a copy if nothing else has changed. A longer interval causes
  // less wear of the disk.
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
  std::vector<std::byte> copied_;  // contents of the copy
  std::uint64_t copied_at_ = 0;
  std::string found_;
};

}  // namespace satrelay::satrelayd
