"""Runs a campaign as jobs of SLURM, on a SLURM of one node brought up for it: ``make slurm``.

Needs Debian's packages munge and slurm-wlm, and root. All that it makes (key, sockets, state, logs) is in a
folder of its own under /tmp, on ports of its own; the processes that it starts, and no others, are ended
afterwards. It is not part of CI, which may not start system services. Exit status 0 if SLURM's results are
those of a local run, byte for byte.
"""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from manetlab import Results
from manetlab.campaign.execution import Report
from tests.campaigns import exported, small

CONF = """
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
PlugStackConfig={folder}/plugstack.conf
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory=2000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
MUNGE_FILES = {
    "key-file": "key",
    "socket": "socket",
    "pid-file": "pid",
    "log-file": "log",
    "seed-file": "seed",
}
CAMPAIGN = small(replications=50)
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def slurm(folder: Path) -> Iterator[None]:
    """A SLURM of this machine alone, whose commands this process finds."""
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "plugstack.conf").touch()
    (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
    conf = folder / "slurm.conf"
    values = {"folder": folder, "host": platform.node(), "cores": os.cpu_count()}
    conf.write_text(CONF.format(**values, controller_port=free_port(), node_port=free_port()))
    os.environ["SLURM_CONF"] = str(conf)
    munge = [f"--{name}={folder}/munge.{end}" for name, end in MUNGE_FILES.items()]
    commands = [
        ["munged", "--foreground", "--force", "--num-threads=2", *munge],
        ["slurmctld", "-D", "-c", "-f", str(conf)],
        ["slurmd", "-D", "-f", str(conf), "-N", platform.node()],
    ]
    processes = []
    try:
        for command in commands:
            with (folder / f"{command[0]}.out").open("wb") as out:
                processes.append(subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT))
            time.sleep(1.0)
        yield
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(30)


def wait_until_idle() -> None:
    """Waits until the node takes jobs."""
    state = ""
    for _ in range(60):
        shown = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False)
        state = (shown.stdout + shown.stderr).strip()
        if state == "idle":
            return
        time.sleep(0.5)
    sys.exit(f"the node does not come up: {state}")


def command(*words: str) -> str:
    """What one of SLURM's commands prints."""
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def run_on_slurm(store: Path, logs: Path) -> Results:
    """Runs the campaign with two jobs, both of which are cancelled on the way."""
    cancelled: list[str] = []

    def cancel_once(report: Report) -> None:
        if not cancelled and report.ran >= 10:
            cancelled.extend(command("squeue", "-h", "-t", "running", "-o", "%i").split())
            command("scancel", *cancelled)

    options = {"jobs": 2, "cores": 1, "memory": "500MB", "interface": "lo", "log_directory": str(logs)}
    results = CAMPAIGN.run(store, slurm=options, progress=cancel_once)
    print(f"SLURM's jobs {', '.join(cancelled)} were cancelled on the way")
    for line in command("scontrol", "show", "job", "-o").splitlines():
        print(
            *(word for word in line.split() if word.startswith(("JobId", "JobName", "JobState", "NodeList")))
        )
    return results


def main() -> int:
    """Brings SLURM up, runs the campaign both ways and compares."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        sys.exit(f"needs root and the packages munge and slurm-wlm; missing: {', '.join(missing) or 'root'}")
    with tempfile.TemporaryDirectory(prefix="manetlab-slurm-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            with slurm(folder):
                wait_until_idle()
                results = run_on_slurm(folder / "s.db", folder)
        except BaseException:
            for log in sorted((*folder.glob("*.log"), *folder.glob("*.out"))):
                print(f"== {log.name}", log.read_text(errors="replace")[-3000:], sep="\n", file=sys.stderr)
            raise
        same = exported(results, folder / "a") == exported(CAMPAIGN.run(), folder / "b")
    print(f"{len(results.runs)} runs on SLURM, {'the same as' if same else 'NOT THE SAME AS'} local ones")
    return 0 if same and len(results.runs) == 200 else 1


if __name__ == "__main__":
    sys.exit(main())
