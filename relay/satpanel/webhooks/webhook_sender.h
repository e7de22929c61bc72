// Sends one body to one URL, by HTTP POST, and says what came of it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "relay/satpanel/webhooks/delivery_queue.h"

namespace satrelay::panel {

// Of a status of HTTP. 2xx is taken. 5xx, 408, 425 and 429 may pass; any other, redirects among
// them, would be answered so again. `retry_after`: of the header; 0: none.
Answer answer_of(long status, std::chrono::seconds retry_after);

// Certificates are verified; redirects are not followed; nothing but HTTP and HTTPS is spoken. One
// thread. The connection is kept for the next one.
class WebhookSender {
 public:
  static constexpr std::chrono::milliseconds kDeadline{10'000};

  // `ca_file`: PEM of who signs certificates; "": whom the machine trusts. Throws
  // std::runtime_error if the library gives no handle.
  explicit WebhookSender(const std::string& url, const std::string& ca_file = "",
                         std::chrono::milliseconds deadline = kDeadline);
  WebhookSender(const WebhookSender&) = delete;
  WebhookSender& operator=(const WebhookSender&) = delete;
  ~WebhookSender();

  // `headers`: "Name: value". Ends within the deadline, and a second after `is_over` is set.
  Answer post(const std::vector<std::string>& headers, const std::string& body,
              const std::atomic<bool>& is_over);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace satrelay::panel
