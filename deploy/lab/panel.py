"""satpanel beside a gateway of the lab. It is in the machine's own network, where the browser is."""

import contextlib
import os
import re
import secrets
import signal
import subprocess
import time

from . import kernel
from .gateway import Gateway
from .machine import gateway_user

_PID_FILE = "satpanel.pid"
USER = "demo"


class Panel:
    """A program of the lab (Lab.start_daemon), with one user, which may do everything."""

    def __init__(self, program: str, gateway: Gateway, folder: str):
        if not os.access(program, os.X_OK):
            raise FileNotFoundError(f"{program} is not there: build first (meson, ninja)")
        self._program = program
        self._folder = folder
        self._users = os.path.join(folder, "satpanel.users")
        self.password = secrets.token_urlsafe(12)
        self.argv = ["satpanel", "--listen", "127.0.0.1:0", "--socket", gateway.stats_socket]
        self.argv += ["--users", self._users]
        self.address = ""

    def start(self, lab) -> None:
        subprocess.run(
            [self._program, "user", "add", USER, "--role", "administrator", "--users", self._users],
            input=self.password + "\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        user = gateway_user()
        os.chown(self._users, user.pw_uid, user.pw_gid)
        daemon = lab.start_daemon("satpanel", _AsUser(self._program, user), self.argv)
        with open(os.path.join(self._folder, _PID_FILE), "w", encoding="ascii") as file:
            file.write(str(daemon.pid))
        daemon.wait_until(lambda: self._listens(daemon.log()), 20, "it listens")

    def _listens(self, log: str) -> bool:
        found = re.search(r"listens at (\S+)", log)
        self.address = found[1] if found else ""
        return bool(found)


class _AsUser:
    """Starts a program outside the namespaces, as a user that may not enter the program's folder."""

    def __init__(self, program: str, user):
        self._program = program
        self._user = user

    def popen(self, *argv: str, keep: bool = False, **options) -> subprocess.Popen:
        program = os.open(self._program, os.O_PATH)
        try:
            return subprocess.Popen(
                argv,
                executable=f"/proc/self/fd/{program}",
                pass_fds=(program,),
                user=self._user.pw_uid,
                group=self._user.pw_gid,
                extra_groups=[],
                cwd="/",
                start_new_session=True,
                preexec_fn=None if keep else kernel.die_with_parent,
                **options,
            )
        finally:
            os.close(program)


def end_kept(folder: str) -> None:
    """Ends the panel of a lab that another process left up, if it has one."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        with open(os.path.join(folder, _PID_FILE), encoding="ascii") as file:
            pid = int(file.read())
        # Its number may now belong to another program.
        if not os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith("satpanel"):
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            os.kill(pid, number)
            deadline = time.monotonic() + 5
            while os.path.exists(f"/proc/{pid}/exe") and time.monotonic() < deadline:
                time.sleep(0.05)
