#include "relay/satpanel/snmp/agent.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "config/text/descriptor.h"
#include "relay/client/reply.h"
#include "relay/metrics/reply_fields.h"
#include "relay/ops/events/severity.h"
#include "relay/ops/log/log.h"
#include "relay/satpanel/alarms/alarm_keeper.h"
#include "relay/satpanel/snmp/mib_view.h"
#include "relay/satpanel/snmp/net_snmp.h"
#include "relay/satpanel/wall_clock.h"

namespace satrelay::panel {
namespace {

constexpr int kLookForMasterEverySeconds = 5;
// When the panel starts, it does not report events that are older than this.
constexpr std::uint64_t kOldestNoticeMs = 60'000;

u_char type_of(Syntax syntax) {
  switch (syntax) {
    case Syntax::kText:
    case Syntax::kDateAndTime:
      return ASN_OCTET_STR;
    case Syntax::kInteger:
      return ASN_INTEGER;
    case Syntax::kGauge:
      return ASN_GAUGE;
    case Syntax::kCounter:
      return ASN_COUNTER64;
    case Syntax::kTicks:
      return ASN_TIMETICKS;
  }
  return ASN_NULL;
}

// The type, bytes and size of a value, as net-snmp's functions require them.
class Encoded {
 public:
  explicit Encoded(const MibValue& value) : type_(type_of(value.syntax)) {
    if (type_ == ASN_OCTET_STR) {
      bytes_ = value.text.data();
      size_ = value.text.size();
    } else if (type_ == ASN_COUNTER64) {
      wide_ = {.high = value.number >> 32, .low = value.number & 0xffffffffU};
      bytes_ = &wide_;
      size_ = sizeof wide_;
    } else {
      narrow_ = static_cast<long>(value.number);
      bytes_ = &narrow_;
      size_ = sizeof narrow_;
    }
  }
  Encoded(const Encoded&) = delete;
  Encoded& operator=(const Encoded&) = delete;

  u_char type() const { return type_; }
  const void* bytes() const { return bytes_; }
  std::size_t size() const { return size_; }

 private:
  u_char type_;
  counter64 wide_{};
  long narrow_ = 0;
  const void* bytes_ = nullptr;
  std::size_t size_ = 0;
};

// Sets up net-snmp, which has one state for the whole program. The library must not read or write
// files of this machine, handle signals, or write to our log.
void set_up_library(const std::string& socket) {
  // The agent needs no names, so the library reads no MIB modules.
  netsnmp_set_mib_directory("");
  netsnmp_register_loghandler(NETSNMP_LOGHANDLER_NONE, LOG_DEBUG);
  netsnmp_enable_subagent();
  for (const int option :
       {NETSNMP_DS_LIB_DONT_READ_CONFIGS, NETSNMP_DS_LIB_DONT_PERSIST_STATE,
        NETSNMP_DS_LIB_DISABLE_PERSISTENT_LOAD, NETSNMP_DS_LIB_DISABLE_PERSISTENT_SAVE,
        NETSNMP_DS_LIB_DONT_LOAD_HOST_FILES, NETSNMP_DS_LIB_ALARM_DONT_USE_SIG}) {
    netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, option, 1);
  }
  netsnmp_ds_set_boolean(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_NO_ROOT_ACCESS, 1);
  netsnmp_ds_set_string(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_X_SOCKET, socket.c_str());
}

}  // namespace

class SnmpAgent::Loop {
 public:
  Loop(const std::string& socket, std::string gateway, Traps traps, const Observer& observer)
      : socket_(socket),
        gateway_(std::move(gateway)),
        traps_(traps),
        observer_(observer),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        notices_since_ms_(wall_clock_ms() - kOldestNoticeMs) {
    if (wake_.number() < 0) throw std::runtime_error("no eventfd for the SNMP agent");
    set_up_library(socket_);
    thread_ = std::thread([this] { run(); });
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    is_over_ = true;
    wake();
    thread_.join();
  }

  void wake() const {
    const std::uint64_t one = 1;
    // If the write fails because the counter is full, the thread was already woken.
    static_cast<void>(::write(wake_.number(), &one, sizeof one));
  }

 private:
  void run() {
    when(SNMPD_CALLBACK_INDEX_START, &Loop::begin);
    when(SNMPD_CALLBACK_INDEX_STOP, &Loop::end);
    init_agent("satpanel");
    // Set the interval after init_agent(), which would overwrite it.
    netsnmp_ds_set_int(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_AGENTX_PING_INTERVAL,
                       kLookForMasterEverySeconds);
    init_snmp("satpanel");
    register_root();
    if (!is_connected_) {
      ops::log_warning("no snmpd answers at " + socket_ + "; trying again");
    }
    while (!is_over_) {
      send_notices();
      wait();
    }
    snmp_shutdown("satpanel");
  }

  struct Self {
    Loop* loop;
  };
  // Allocates `self` with malloc(), since the library frees the memory that it passes to the
  // callback.
  void when(int event, SNMPCallback* callback) {
    auto* self = static_cast<Self*>(std::malloc(sizeof(Self)));
    if (self == nullptr) throw std::bad_alloc();
    self->loop = this;
    snmp_register_callback(SNMP_CALLBACK_APPLICATION, event, callback, self);
  }

  void register_root() {
    const Oid root = mib_root();
    netsnmp_handler_registration* registration = netsnmp_create_handler_registration(
        "satrelay", &Loop::handle, root.data(), root.size(), HANDLER_CAN_RONLY);
    if (registration == nullptr) return;
    registration->handler->myvoid = this;
    netsnmp_register_handler(registration);
  }

  // While snmpd is not connected, sends nothing. The notices are sent once it is back.
  void send_notices() {
    if (!is_connected_) return;
    // Fetch the events before the notices. Then the notices include those of the fetched events.
    const Observer::EventPage events = new_events();
    const AlarmKeeper::NoticePage page = observer_.alarms().notices(next_notice_);
    next_notice_ = page.next;
    std::vector<std::uint64_t> told;
    for (const AlarmNotice& notice : page.notices) {
      if (notice.alarm.told_ms >= notices_since_ms_) send(notification_of(notice));
      told.push_back(notice.alarm.number);
    }
    // An event reaches the alarm book shortly before it reaches the list of events. So remember the
    // events that the last notices reported, and do not report them again from the list.
    told_before_.insert(told_before_.end(), told.begin(), told.end());
    for (const Json& event : events.events) {
      const auto number = ctl::number(event, "number");
      if (std::ranges::find(told_before_, number) != told_before_.end()) continue;
      const Notification notification = notification_of(event);
      if (notification.of.told_ms >= notices_since_ms_) send(notification);
    }
    told_before_ = std::move(told);
  }

  Observer::EventPage new_events() {
    if (traps_ == Traps::kOnlyAlarms) return {};
    const auto is_info = [](const Json& event) {
      return metrics::word(event, "severity") == ops::to_string(ops::Severity::kInfo);
    };
    Observer::EventPage page = observer_.events(next_event_, AlarmKeeper::kMostNotices, is_info);
    next_event_ = page.next;
    return page;
  }

  void send(const Notification& notification) const {
    constexpr oid kTrapOid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0};  // snmpTrapOID.0
    const Oid which = oid_of(notification);
    netsnmp_variable_list* list = nullptr;
    snmp_varlist_add_variable(&list, kTrapOid, std::size(kTrapOid), ASN_OBJECT_ID, which.data(),
                              which.size() * sizeof(oid));
    for (const Binding& each : bindings_of(notification, gateway_)) {
      const Encoded value(each.value);
      snmp_varlist_add_variable(&list, each.oid.data(), each.oid.size(), value.type(),
                                value.bytes(), value.size());
    }
    send_v2trap(list);
    snmp_free_varbind(list);
  }

  // Waits until the library or this object has work, but at most a second.
  void wait() {
    netsnmp_large_fd_set readable;
    netsnmp_large_fd_set_init(&readable, FD_SETSIZE);
    int count = 0;
    int blocks = 0;
    timeval timeout{.tv_sec = 1, .tv_usec = 0};
    snmp_select_info2(&count, &readable, &timeout, &blocks);
    NETSNMP_LARGE_FD_SET(wake_.number(), &readable);
    count = std::max(count, wake_.number() + 1);
    if (blocks != 0 || timeout.tv_sec >= 1) timeout = {.tv_sec = 1, .tv_usec = 0};
    const int ready = netsnmp_large_fd_set_select(count, &readable, nullptr, nullptr, &timeout);
    if (ready > 0) {
      std::uint64_t woken = 0;
      static_cast<void>(::read(wake_.number(), &woken, sizeof woken));
      NETSNMP_LARGE_FD_CLR(wake_.number(), &readable);
      snmp_read2(&readable);
    } else {
      snmp_timeout();
    }
    netsnmp_large_fd_set_cleanup(&readable);
    run_alarms();
    netsnmp_check_outstanding_agent_requests();
  }

  const MibView& view() {
    auto latest = observer_.latest();
    auto alarms = observer_.alarms().alarms();
    if (latest != shown_ || alarms != shown_alarms_) {
      view_ = MibView(*latest, *alarms, gateway_);
      shown_ = std::move(latest);
      shown_alarms_ = std::move(alarms);
    }
    return view_;
  }

  static void answer(netsnmp_agent_request_info* asked, netsnmp_request_info* request,
                     const MibView& view) {
    netsnmp_variable_list* variable = request->requestvb;
    const Oid wanted(variable->name, variable->name + variable->name_length);
    const bool is_next = asked->mode == MODE_GETNEXT;
    const Binding* found = is_next ? view.next(wanted) : view.find(wanted);
    if (found == nullptr) {
      if (!is_next) netsnmp_set_request_error(asked, request, SNMP_NOSUCHINSTANCE);
      return;
    }
    if (is_next) snmp_set_var_objid(variable, found->oid.data(), found->oid.size());
    const Encoded value(found->value);
    snmp_set_var_typed_value(variable, value.type(), value.bytes(), value.size());
  }

  // --- called by the library ---------------------------------------------------------------------

  static int handle(netsnmp_mib_handler* handler, netsnmp_handler_registration* /*registration*/,
                    netsnmp_agent_request_info* asked, netsnmp_request_info* requests) {
    const MibView& view = static_cast<Loop*>(handler->myvoid)->view();
    for (netsnmp_request_info* each = requests; each != nullptr; each = each->next) {
      if (each->processed == 0) answer(asked, each, view);
    }
    return SNMP_ERR_NOERROR;
  }

  static int begin(int /*major*/, int /*minor*/, void* /*session*/, void* self) {
    return static_cast<Self*>(self)->loop->set_connected(true);
  }
  static int end(int /*major*/, int /*minor*/, void* /*session*/, void* self) {
    return static_cast<Self*>(self)->loop->set_connected(false);
  }
  int set_connected(bool is) {
    if (is && !is_connected_) ops::log_info("connected to snmpd at " + socket_);
    if (!is && is_connected_ && !is_over_) {
      ops::log_warning("snmpd is gone at " + socket_ + "; trying again");
    }
    is_connected_ = is;
    return 0;
  }

  const std::string socket_;
  const std::string gateway_;
  const Traps traps_;
  const Observer& observer_;
  const config::Descriptor wake_;
  const std::uint64_t notices_since_ms_;
  std::atomic<bool> is_over_ = false;

  // The following members are used only by the thread.
  bool is_connected_ = false;
  std::uint64_t next_notice_ = 1;
  // Position of the next event to read. Before the first reading it is 0, so that this reading
  // returns only the latest events.
  std::uint64_t next_event_ = 0;
  std::vector<std::uint64_t> told_before_;  // numbers of events in the last alarm notices
  MibView view_;
  // The readings and the alarms from which view_ was built.
  std::shared_ptr<const metrics::Readings> shown_;
  std::shared_ptr<const std::vector<Alarm>> shown_alarms_;
  std::thread thread_;
};

SnmpAgent::SnmpAgent(const std::string& socket, const std::string& gateway, Traps traps,
                     const Observer& observer)
    : loop_(std::make_unique<Loop>(socket, gateway, traps, observer)) {}

SnmpAgent::~SnmpAgent() = default;

void SnmpAgent::take_news() { loop_->wake(); }

}  // namespace satrelay::panel
