#!/usr/bin/env bash
# Installs what satrelay needs to be built and run, from the distribution's own packages. With --test-programs it also
# installs what the tests need. It makes the user that a gateway runs as, and reserves hugepages if it may. A second run
# changes nothing.
set -euo pipefail
# shellcheck source=deploy/progress.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/progress.sh"

usage() {
  cat <<'END'
usage: deploy/setup.sh [--check] [--no-hugepages] [--test-programs]

  --check          only print what is missing; exit status 1 if anything is
  --test-programs  also what the tests need: their libraries and tools, the clients and servers that
                   tests/e2e/hosts/test_programs.py and tests/e2e/as_a_bridge drive, and QEMU with a kernel
                   for its guest (in /var/cache/satrelay); no server that this installs is started,
                   now or at boot
  --no-hugepages   do not change hugepages

SATRELAY_HUGEPAGES is the memory to reserve as hugepages, in MiB (default 512, at most a quarter of
what is free; 0: none). satrelay runs without them, a little slower.
END
}

packages=(
  # compilers and build tools
  g++ meson ninja-build pkg-config binutils
  # libraries
  dpdk-dev libdpdk-dev libzstd-dev libyaml-cpp-dev libmnl-dev libpcap-dev libisal-dev libipsec-mb-dev
  libssl-dev libcli11-dev libfmt-dev nlohmann-json3-dev libbpf-dev libfixbuf-dev
  # the panel
  libmicrohttpd-dev libargon2-dev libcurl4-openssl-dev libsnmp-dev libjs-chart.js
  # the lab and the demo
  iproute2 ethtool curl netcat-openbsd tcpdump python3 iputils-ping iputils-arping nftables procps
  # the plots of satlab
  gnuplot-nox
)
test_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev clang-tidy clang-format python3-pytest
  # linters of scripts (tests/tidy/lint.py), and the test runner of the panel's modules
  shellcheck shfmt flake8 node-typescript nodejs
  # readers of the manual pages, which also check them
  man-db groff-base mandoc
  # so that nothing is compiled twice
  ccache
  # clang-tidy's plugin
  libclang-14-dev llvm-14-dev
  # clients, servers, and readers of captures
  wget openssl openssh-client openssh-server vsftpd nginx rsync iperf3 tshark zsh
  snmp snmpd snmptrapd
  # for tests/e2e/as_a_bridge: routers, brokers, telephones, names and leases, tunnels
  bird2 redis-server redis-tools mosquitto mosquitto-clients sip-tester traceroute bind9-dnsutils
  dnsmasq-base busybox wireguard-go wireguard-tools
  # a collector of IPFIX
  nfdump
  # a browser for the panel
  chromium chromium-driver python3-selenium
  # monitoring of many gateways
  prometheus prometheus-alertmanager python3-prometheus-client
  # a guest with NICs that DPDK has drivers for, and one with systemd
  qemu-system-x86 kmod findutils mmdebstrap e2fsprogs
)
# The guest's kernel is taken out of its package. The package is not installed, as it would become this machine's
# kernel. The modules are for the NICs, and let a program drive them. Those of the last two lines are for a guest with a
# disk and with ports of its own.
guest_kernel=/var/cache/satrelay/guest-kernel
guest_modules=(
  drivers/vfio drivers/uio drivers/virtio virt/lib drivers/net/vmxnet3 drivers/net/ethernet/intel/e1000e
  drivers/net/virtio_net.ko drivers/net/net_failover.ko net/core/failover.ko
  drivers/block/virtio_blk.ko fs/ext4 fs/jbd2 fs/mbcache.ko lib/crc16.ko crypto/crc32c_generic.ko
  drivers/net/veth.ko net/bridge/bridge.ko net/802/stp.ko net/llc/llc.ko
)
# Packages with a server that Debian starts at installation, and the names of those services.
declare -A services=(
  ["openssh-server"]=ssh ["vsftpd"]=vsftpd ["nginx"]=nginx
  ["prometheus"]=prometheus ["prometheus-alertmanager"]=prometheus-alertmanager
  ["bird2"]=bird ["redis-server"]=redis-server ["mosquitto"]=mosquitto
  ["snmpd"]=snmpd ["snmptrapd"]=snmptrapd ["nfdump"]=nfdump
)

# apt-get waits so long for another program that installs packages.
lock_seconds=120

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
      printf '%s\n' "$package"
    fi
  done
}

# apt_get LOG WORD...: apt-get in a session of its own, where the terminal's Ctrl-C does not reach dpkg. On SIGINT apt-get
# stops a download, or completes the packages that dpkg has in hand. SIGTERM would leave them half installed.
apt_get() {
  local log=$1 signal=INT status=0
  shift
  run_with_progress "$log" setsid env --default-signal=INT \
    apt-get -q -o DPkg::Lock::Timeout="$lock_seconds" -o Dpkg::Use-Pty=0 "$@" || status=$?
  return "$status"
}

install_packages() {
  local log
  log=$(mktemp --tmpdir satrelay-apt.XXXXXX.log)
  temporary+=("$log")
  # explain_failure() reads the log, so apt-get must write it in English.
  export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
  say "updating the package lists"
  # A broken third-party source must not stop the script as long as the packages can be had.
  apt_get "$log" update || true
  say "installing $# packages: $*"
  keep_services_down "$@"
  apt_get "$log" install -y --no-install-recommends "$@" || explain_failure "$log" "$*"
  rm -f "$log"
  local package
  for package in "$@"; do
    if [ -n "${services[$package]:-}" ]; then
      update-rc.d "${services[$package]}" disable >/dev/null 2>&1 || true
      say "the service ${services[$package]} of $package is left switched off"
    fi
  done
}

# explain_failure LOG PACKAGES: ends with the cause that apt-get has written into its log, and with the cure.
explain_failure() {
  local cause="The packages could not be installed: $2. The log above says why."
  case $(<"$1") in
  *"dpkg was interrupted"*)
    cause="An earlier installation was interrupted. Run as root: dpkg --configure -a; then run this script again."
    ;;
  *"--fix-broken"*)
    cause="An earlier installation left packages without what they need. Run as root: apt-get --fix-broken install;
then run this script again."
    ;;
  *"E: Could not get lock"* | *"Unable to acquire"* | *"Unable to lock"*)
    cause="Another program has been installing packages for $lock_seconds s, and the log above names its process.
Wait until it has ended, then run this script again."
    ;;
  *"No space left on device"* | *"enough free space"*)
    cause="The disk is full: the log above says how much the packages need, and this is free:
$(df -h --output=target,avail / /var/cache/apt/archives 2>/dev/null)"
    ;;
  *"Unable to locate package"* | *"no installation candidate"*)
    cause="apt-get does not know all of these packages: $2. Debian 12 has them. Is the network reachable, and does
/etc/apt/sources.list name Debian 12 (bookworm main)?"
    ;;
  *"Unable to fetch"* | *"Failed to fetch"*)
    cause="The network is needed to download these packages: $2. Is it reachable from here?"
    ;;
  esac
  die "$cause"
}

# The tests start servers of their own, in namespaces. They need none on the machine itself, so no server is started
# while packages are installed. (A machine's own policy, as in containers, is kept.)
keep_services_down() {
  local policy=/usr/sbin/policy-rc.d package with_service=no
  for package in "$@"; do
    if [ -n "${services[$package]:-}" ]; then with_service=yes; fi
  done
  if [ "$with_service" = no ] || [ -e "$policy" ]; then return; fi
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  # shellcheck disable=SC2064
  trap "rm -f '$policy'" EXIT
}

# Reserves pages of 2 MiB for DPDK. Every failure here ends in a message, not in an error.
reserve_hugepages() {
  local control=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
  local wanted=${SATRELAY_HUGEPAGES:-512} available have pages
  if ! [[ $wanted =~ ^[0-9]{1,7}$ ]]; then
    die "SATRELAY_HUGEPAGES is \"$wanted\"; write a number of MiB, like 512"
  fi
  if ((wanted == 0)); then return; fi
  if [ ! -r "$control" ]; then
    say "hugepages: this kernel offers none of 2 MiB; satrelay runs without them"
    return
  fi
  have=$(<"$control")
  available=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo)
  if ((wanted > available / 4 + have * 2)); then
    wanted=$((available / 4 + have * 2))
    say "hugepages: memory is short, so only $wanted MiB"
  fi
  pages=$((wanted / 2))
  if ((have < pages)); then
    if ! { echo "$pages" >"$control"; } 2>/dev/null; then
      say "hugepages: may not be reserved here ($control is read-only); satrelay runs without them"
      return
    fi
    have=$(<"$control")
    if ((have == 0)); then
      say "hugepages: memory is too fragmented for any; a reboot helps. satrelay runs without them"
      return
    fi
    say "hugepages: $((have * 2)) MiB reserved until the next reboot"
    if ((have < pages)); then say "hugepages: memory is fragmented, so these are not $wanted MiB"; fi
  else
    say "hugepages: $((have * 2)) MiB reserved already"
  fi
  if ((have > 0)) && ! grep -q ' hugetlbfs ' /proc/mounts; then
    if mkdir -p /dev/hugepages 2>/dev/null &&
      mount -t hugetlbfs -o pagesize=2M hugetlbfs /dev/hugepages 2>/dev/null; then
      say "hugepages: hugetlbfs mounted on /dev/hugepages"
    else
      say "hugepages: hugetlbfs could not be mounted; satrelay runs without it"
    fi
  fi
}

# Without it tests/e2e/ports/test_nics.py and test_units.py are skipped, so every failure here ends in a message.
fetch_guest_kernel() {
  # A folder of an older setup.sh has fewer modules.
  if [ "$(cat "$guest_kernel/complete" 2>/dev/null)" = "${guest_modules[*]}" ]; then return; fi
  local package folder log version
  package=$(apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends: linux-image-/ {print $2; exit}')
  if [ -z "$package" ]; then
    say "kernel of the tests' guest: this distribution has no linux-image-amd64; tests that boot it will be skipped"
    return
  fi
  folder=$(mktemp -d --tmpdir satrelay-kernel.XXXXXX)
  log=$(mktemp --tmpdir satrelay-apt.XXXXXX.log)
  chmod 755 "$folder"
  say "kernel of the tests' guest: downloading $package"
  temporary+=("$folder" "$log")
  if run_with_progress "$log" env --chdir="$folder" apt-get download -q "$package" &&
    rm -rf "$guest_kernel" && mkdir -p "$guest_kernel" &&
    dpkg-deb --fsys-tarfile "$folder/$package"_*.deb |
    tar -x -C "$guest_kernel" --wildcards './boot/vmlinuz-*' './lib/modules/*/modules.*' \
      "${guest_modules[@]/#/./lib/modules/*/kernel/}" &&
    version=$(ls "$guest_kernel/lib/modules") && depmod -b "$guest_kernel" "$version"; then
    printf '%s\n' "${guest_modules[*]}" >"$guest_kernel/complete"
    rm -f "$log"
    say "kernel of the tests' guest: $version in $guest_kernel"
  else
    say "kernel of the tests' guest: could not be fetched; tests that boot it will be skipped"
  fi
  rm -rf "$folder"
}

# The user that satrelayd becomes when it needs root's rights no more.
make_user() {
  if getent passwd satrelay >/dev/null; then return; fi
  if ((EUID != 0)); then
    say "user satrelay: unchanged, because that needs root; satrelayd runs as nobody"
  elif useradd --system --user-group --no-create-home --home-dir /nonexistent \
    --shell /usr/sbin/nologin --comment "satrelay gateway" satrelay; then
    say "user satrelay: made"
  else
    say "user satrelay: could not be made; satrelayd runs as nobody"
  fi
}

check_only=no hugepages=yes with_tests=no
for argument in "$@"; do
  case $argument in
  --check) check_only=yes ;;
  --no-hugepages) hugepages=no ;;
  --test-programs)
    packages+=("${test_packages[@]}")
    with_tests=yes
    ;;
  -h | --help)
    usage
    exit 0
    ;;
  *)
    usage >&2
    misused "unknown option: $argument"
    ;;
  esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  die "This needs Debian 12 or a relative of it with apt. The packages elsewhere: ${packages[*]}"
fi

mapfile -t missing < <(missing_packages)

if [ "$check_only" = yes ]; then
  if ((${#missing[@]} == 0)); then
    say "all ${#packages[@]} packages are installed"
    exit 0
  fi
  say "missing: ${missing[*]}"
  exit 1
fi

if ((${#missing[@]} > 0)); then
  elevate "to install ${#missing[@]} packages" "$(readlink -f -- "${BASH_SOURCE[0]}")" "$@"
  install_packages "${missing[@]}"
fi
say "packages: all ${#packages[@]} are installed"
if [ "$with_tests" = yes ] && ((EUID == 0)); then fetch_guest_kernel; fi
make_user

if [ "$hugepages" = yes ]; then
  if ((EUID == 0)); then
    reserve_hugepages
  else
    say "hugepages: unchanged, because that needs root; satrelay runs without them"
  fi
fi
