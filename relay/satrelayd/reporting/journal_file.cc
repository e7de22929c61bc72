#include "relay/satrelayd/reporting/journal_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "relay/gateway/recovery/flow_journal.h"

namespace satrelay::satrelayd {
namespace {

constexpr std::size_t kRecordSize = gateway::FlowJournal::kRecordSize;
constexpr std::size_t kPage = 4096;

struct Header {
  std::array<char, 8> magic = {'s', 'a', 't', 'r', 'e', 'l', 'a', 'y'};
  std::uint32_t version = 1;
  std::uint32_t record_size = kRecordSize;
  std::uint64_t records = 0;
  std::uint64_t last_look = 0;
};
constexpr std::size_t kLastLookAt = 24;
static_assert(offsetof(Header, last_look) == kLastLookAt);

[[noreturn]] void fail(int error, const std::string& what, const std::filesystem::path& path) {
  throw std::system_error(error, std::generic_category(), what + " " + path.string());
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Creates a file of this size, filled with zeros, and reserves all its blocks. Then a full file
// system causes an error here, instead of a SIGBUS when a record is written.
Descriptor create(const std::filesystem::path& path, std::size_t size) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.number() < 0) fail(errno, "cannot create", path);
  const int error = ::posix_fallocate(file.number(), 0, static_cast<off_t>(size));
  if (error != 0) {
    ::unlink(path.c_str());
    fail(error, "cannot reserve " + std::to_string((size >> 20) + 1) + " MiB for", path);
  }
  return Descriptor(file.release());
}

void write_all(int file, ConstBytes bytes, std::size_t at, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : EIO, "cannot write", path);
    at += static_cast<std::size_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

std::filesystem::path beside(const std::filesystem::path& path) {
  return std::filesystem::path(path.string() + ".new");
}

void put_in_place(const std::filesystem::path& path) {
  if (::rename(beside(path).c_str(), path.c_str()) != 0) fail(errno, "cannot replace", path);
}

// Loads atomically, since the gateway may write the word at the same time.
std::uint64_t load_word(const std::byte* from) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(from)))
      .load(std::memory_order_relaxed);
}

}  // namespace

JournalFile::Found JournalFile::read(const std::filesystem::path& path) {
  if (path.empty()) return {};
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) return {};
  Header header;
  const Header ours;
  if (::pread(file.number(), &header, sizeof header, 0) != sizeof header) return {};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (header.magic != ours.magic || header.version != ours.version ||
      header.record_size != ours.record_size || size < kHeaderSize ||
      header.records > (size - kHeaderSize) / kRecordSize) {
    return {};
  }
  Found found{.last_look = header.last_look, .records = {}};
  found.records.resize(header.records * kRecordSize);
  std::size_t at = 0;
  while (at < found.records.size()) {
    const ssize_t got = ::pread(file.number(), &found.records[at], found.records.size() - at,
                                static_cast<off_t>(kHeaderSize + at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    at += static_cast<std::size_t>(got);
  }
  return found;
}

// Copies the used records of the earlier run without gaps, since limits.flows may have changed.
void JournalFile::take_over(const Found& found, const Limits& limits, std::uint64_t now) {
  const std::uint64_t age = now > found.last_look ? now - found.last_look : 0;
  if (found.last_look == 0) {
    found_ = "no journal of an earlier run";
    return;
  }
  const std::string seconds = std::to_string(age / 1'000'000'000U) + " s ago";
  if (age > static_cast<std::uint64_t>(limits.oldest.to_nanoseconds())) {
    found_ = "the journal was last written " + seconds + ": too old to be of use";
    return;
  }
  std::size_t taken = 0;
  const std::array<std::byte, kRecordSize> free_record{};
  for (std::size_t at = 0; at < found.records.size() && taken < limits.flows; at += kRecordSize) {
    const std::byte* record = &found.records[at];
    if (std::memcmp(record, free_record.data(), kRecordSize) == 0) continue;
    std::memcpy(&records()[taken++ * kRecordSize], record, kRecordSize);
  }
  found_ = std::to_string(taken) + " flows in the journal, last written " + seconds;
}

JournalFile::JournalFile(const Where& where, const Limits& limits, std::uint64_t now)
    : where_(where) {
  const Found in_memory = read(where.file);
  const Found on_disk = read(where.copy);
  const std::size_t size = kHeaderSize + (limits.flows * kRecordSize + kPage - 1) / kPage * kPage;
  const Descriptor file = create(beside(where.file), size);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED) fail(errno, "cannot map", where.file);
  mapped_ = {static_cast<std::byte*>(memory), size};
  try {
    // Use the file with the later time. look_after() always writes the time to the file in memory,
    // but not always to the copy. So if both times are equal, both files are up to date, and the
    // file in memory is used.
    take_over(in_memory.last_look >= on_disk.last_look ? in_memory : on_disk, limits, now);
    Header header;
    header.records = limits.flows;
    header.last_look = now;
    std::memcpy(mapped_.data(), &header, sizeof header);
    put_in_place(where.file);
    if (!where.copy.empty()) begin_copy();
  } catch (...) {
    ::munmap(memory, size);
    throw;
  }
  mapped_ = mapped_.first(kHeaderSize + limits.flows * kRecordSize);
  copied_at_ = now;
}

JournalFile::~JournalFile() {
  const bool empty = std::ranges::all_of(records(), [](std::byte b) { return b == std::byte{0}; });
  if (empty) ::unlink(where_.file.c_str());
  if (copy_ >= 0) ::close(copy_);
  ::munmap(mapped_.data(), mapped_.size());
}

void JournalFile::begin_copy() {
  const std::filesystem::path path = beside(where_.copy);
  Descriptor file = create(path, mapped_.size());
  copied_.assign(mapped_.begin(), mapped_.end());
  write_all(file.number(), copied_, 0, path);
  if (::fsync(file.number()) != 0) fail(errno, "cannot write", path);
  put_in_place(where_.copy);
  copy_ = file.release();
}

bool JournalFile::copy_page(std::size_t at) {
  const std::size_t size = std::min(kPage, mapped_.size() - at);
  bool changed = false;
  for (std::size_t i = at; i < at + size; i += sizeof(std::uint64_t)) {
    const std::uint64_t word = load_word(&mapped_[i]);
    if (std::memcmp(&copied_[i], &word, sizeof word) == 0) continue;
    std::memcpy(&copied_[i], &word, sizeof word);
    changed = true;
  }
  if (changed) write_all(copy_, ConstBytes(copied_).subspan(at, size), at, where_.copy);
  return changed;
}

void JournalFile::look_after(std::uint64_t now) {
  std::memcpy(&mapped_[kLastLookAt], &now, sizeof now);
  if (copy_ < 0) return;
  bool changed = false;
  for (std::size_t at = kHeaderSize; at < mapped_.size(); at += kPage) {
    changed = copy_page(at) || changed;
  }
  const auto quiet = static_cast<std::uint64_t>(kQuietCopy.to_nanoseconds());
  if (!changed && now - copied_at_ < quiet) return;
  copied_at_ = now;
  copy_page(0);
  if (::fdatasync(copy_) != 0) fail(errno, "cannot write", where_.copy);
}

}  // namespace satrelay::satrelayd
