"""The servers for the clients of test_programs.py, in the server's namespace of a lab.

nginx (HTTP and TLS), vsftpd, OpenSSH, rsync and iperf3, with configurations, keys and files of their own in the lab's
folder. They listen on all addresses of both IP versions.
"""

import hashlib
import os
import pwd
import random
import shutil
from dataclasses import dataclass

from harness import Failed, Lab
from lab import kernel
from lab.daemon import DaemonFailed

FILE_BYTES = 1_000_000
OBJECTS = 200
IPERF_PORTS = (5201, 5202, 5203)
_PACKAGES = {
    "curl": "curl",
    "iperf3": "iperf3",
    "nc": "netcat-openbsd",
    "nginx": "nginx",
    "openssl": "openssl",
    "rsync": "rsync",
    "scp": "openssh-client",
    "setpriv": "util-linux",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "sshd": "openssh-server",
    "vsftpd": "vsftpd",
    "wget": "wget",
}


def require_programs() -> None:
    missing = [f"{name} ({_PACKAGES[name]})" for name in sorted(_PACKAGES) if not _path(name)]
    if missing:
        raise Failed(
            f"not installed: {', '.join(missing)}; deploy/setup.sh --test-programs installs them"
        )


def _path(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def digest(path: str) -> str:
    """The digest of a file, or of the names and contents of all files in a folder."""
    if not os.path.isdir(path):
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    whole = hashlib.sha256()
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            inside = os.path.join(folder, name)
            whole.update(f"{os.path.relpath(inside, path)} {digest(inside)}\n".encode())
    return whole.hexdigest()


@dataclass(frozen=True)
class Files:
    """The files that the servers offer, and the folder for uploads."""

    root: str

    @property
    def file(self) -> str:
        return os.path.join(self.root, "file.bin")

    @property
    def objects(self) -> str:
        return os.path.join(self.root, "objects")

    @property
    def tree(self) -> str:
        return os.path.join(self.root, "tree")

    @property
    def incoming(self) -> str:
        return os.path.join(self.root, "incoming")

    def create(self) -> None:
        """Creates files of bytes that no compression shortens, and a few lines of text among them."""
        noise = random.Random(17)
        os.makedirs(self.objects)
        os.makedirs(self.incoming)
        os.chmod(self.incoming, 0o777)  # vsftpd's anonymous user writes here
        _write(self.file, noise.randbytes(FILE_BYTES))
        for number in range(OBJECTS):
            data = noise.randbytes(noise.randrange(1, 12_000))
            _write(os.path.join(self.objects, str(number)), data)
        for number in range(60):
            folder = os.path.join(self.tree, f"folder {number % 7}")
            os.makedirs(folder, exist_ok=True)
            text = f"line {number}\n".encode() * noise.randrange(400)
            _write(os.path.join(folder, f"{number}.bin"), noise.randbytes(noise.randrange(30_000)))
            _write(os.path.join(folder, f"{number}.txt"), text)


class Servers:
    """Servers that run once this object is constructed. The lab stops them."""

    def __init__(self, lab: Lab, addresses: list[str]):
        self._lab = lab
        self.folder = os.path.join(lab.folder, "servers")
        os.makedirs(self.folder)
        # Servers that give up root before they open their files have to get here.
        for folder in (lab.folder, self.folder):
            os.chmod(folder, 0o711)
        self.files = Files(os.path.join(self.folder, "files"))
        self.files.create()
        self.certificate = self._make_certificate(addresses)
        self.client_key, self.known_hosts = self._make_ssh_keys()
        self._daemons = []
        waiting = []
        for name, ports, command in (
            ("nginx", (80, 443), self._nginx()),
            ("vsftpd", (21,), self._vsftpd()),
            ("sshd", (22,), self._sshd()),
            ("rsyncd", (873,), self._rsyncd()),
            *(
                (f"iperf3-{port}", (port,), [_path("iperf3"), "--server", "--port", str(port)])
                for port in IPERF_PORTS
            ),
        ):
            self._daemons.append(lab.start_daemon(name, lab.server, command))
            waiting.append((self._daemons[-1], ports))
        for daemon, ports in waiting:
            self._wait_for(daemon, ports)

    def logs(self) -> str:
        """The last lines of each server, and which servers have ended."""
        parts = []
        for daemon in self._daemons:
            status = "" if daemon.running() else f" (ended with status {daemon.exit_status()})"
            if status or daemon.log():
                parts.append(f"--- {daemon.name}{status}: its last lines\n{daemon.log(20)}")
        return "".join(parts)

    def _wait_for(self, daemon, ports: tuple[int, ...]) -> None:
        ready = lambda: all(listens(self._lab.server, port) for port in ports)  # noqa: E731
        try:
            daemon.wait_until(ready, 30, "it listens")
        except DaemonFailed as error:
            raise Failed(f"{error}\n{daemon.log()}") from error

    def _config(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        _write(path, text.encode())
        return path

    def _make_certificate(self, addresses: list[str]) -> str:
        certificate = os.path.join(self.folder, "certificate.pem")
        names = ",".join(f"IP:{address}" for address in addresses)
        kernel.run(
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt"),
            *("ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=server"),
            *("-addext", f"subjectAltName={names}", "-out", certificate),
            *("-keyout", os.path.join(self.folder, "key.pem")),
        )
        return certificate

    def _make_ssh_keys(self) -> tuple[str, str]:
        for name in ("host_key", "client_key"):
            path = os.path.join(self.folder, name)
            kernel.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path)
        with open(os.path.join(self.folder, "host_key.pub"), encoding="ascii") as key:
            known_hosts = self._config("known_hosts", f"* {key.read()}")
        shutil.copy(
            os.path.join(self.folder, "client_key.pub"),
            os.path.join(self.folder, "authorized_keys"),
        )
        return os.path.join(self.folder, "client_key"), known_hosts

    def _nginx(self) -> list[str]:
        temporary = "".join(
            f"  {kind}_temp_path {self.folder}/nginx-{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        config = self._config(
            "nginx.conf",
            f"""\
daemon off;
worker_processes 1;
user root;
pid {self.folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_max_body_size 0;
{temporary}\
  server {{
    listen [::]:80 ipv6only=off;
    listen [::]:443 ssl ipv6only=off;
    ssl_certificate {self.certificate};
    ssl_certificate_key {self.folder}/key.pem;
    root {self.files.root};
    location /incoming/ {{ dav_methods PUT; }}
  }}
}}
""",
        )
        return [_path("nginx"), "-e", "stderr", "-p", self.folder, "-c", config]

    def _vsftpd(self) -> list[str]:
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty)
        config = self._config(
            "vsftpd.conf",
            f"""\
background=NO
listen=NO
listen_ipv6=YES
anonymous_enable=YES
no_anon_password=YES
local_enable=NO
anon_root={self.files.root}
write_enable=YES
anon_upload_enable=YES
connect_from_port_20=YES
secure_chroot_dir={empty}
xferlog_enable=NO
""",
        )
        return [_path("vsftpd"), config]

    def _sshd(self) -> list[str]:
        config = self._config(
            "sshd_config",
            f"""\
HostKey {self.folder}/host_key
AuthorizedKeysFile {self.folder}/authorized_keys
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UseDNS no
PrintMotd no
PidFile none
Subsystem sftp internal-sftp
""",
        )
        # sshd needs /run/sshd. It refuses accounts with a locked password, as root's is where sudo is used. A login
        # shell might print something from its start-up files. So mounts that only this process sees give it a plain
        # root account.
        sshd = pwd.getpwnam("sshd")
        accounts = {
            "passwd": f"root:x:0:0::{self.folder}:/bin/sh\n"
            f"sshd:x:{sshd.pw_uid}:{sshd.pw_gid}::{sshd.pw_dir}:/usr/sbin/nologin\n",
            "shadow": "root:*:19000:0:99999:7:::\nsshd:!:19000::::::\n",
        }
        mounts = ["mount -t tmpfs -o size=1m tmpfs /run", "mkdir -m 755 /run/sshd"]
        for name, text in accounts.items():
            mounts.append(f"mount --bind {self._config(name, text)} /etc/{name}")
        script = " && ".join([*mounts, f"exec {_path('sshd')} -D -e -f {config}"])
        return ["unshare", "--mount", "sh", "-c", script]

    def _rsyncd(self) -> list[str]:
        config = self._config(
            "rsyncd.conf",
            f"""\
use chroot = no
uid = root
gid = root
reverse lookup = no
[files]
  path = {self.files.root}
  read only = no
""",
        )
        return ["rsync", "--daemon", "--no-detach", f"--config={config}", "--log-file=/dev/stderr"]


def listens(space: kernel.Namespace, port: int) -> bool:
    listening = "0A"
    with space.entered():
        for table in ("tcp", "tcp6"):
            with open(f"/proc/thread-self/net/{table}", encoding="ascii") as sockets:
                for line in sockets.readlines()[1:]:
                    fields = line.split()
                    if fields[3] == listening and int(fields[1].rpartition(":")[2], 16) == port:
                        return True
    return False


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
