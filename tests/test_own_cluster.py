"""A cluster that a campaign starts listens to nobody but the campaign and the cluster's own workers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

STARTED = """
import os, socket, subprocess, sys
from manetlab.campaign.dask_cluster import _client, _slurm_cluster

def listening():
    inodes = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
              if os.path.exists(f"/proc/self/fd/{fd}")}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in open(table).read().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in inodes:
                address, port = words[1].split(":")
                yield address, int(port, 16)

def main():
    cluster = _slurm_cluster({})
    scheduler = int(cluster.scheduler_address.rpartition(":")[2])
    print("scheme", cluster.scheduler_address.partition(":")[0])
    for address, port in listening():
        if port != scheduler:
            # 127.0.0.1, and ::1 as it is and mapped from it.
            is_local = address in ("0100007F", "0" * 24 + "01000000", "0" * 16 + "FFFF00000100007F")
            print("other socket", "local" if is_local else "open " + address)
    print("ours", _client(cluster).run_on_scheduler(lambda: 1))
    stranger = (
        "import distributed\\n"
        "distributed.Client({!r}, timeout=5).run_on_scheduler(print)"
    )
    for scheme in ("tls", "tcp"):
        address = f"{scheme}://127.0.0.1:{scheduler}"
        words = [sys.executable, "-c", stranger.format(address)]
        made = subprocess.run(words, capture_output=True, timeout=120)
        print("stranger", "refused" if made.returncode else "SERVED")
    for name in os.listdir("."):
        if name.startswith(".dask-jobqueue"):
            print("file", oct(os.stat(name).st_mode & 0o077))
    cluster.close()

if __name__ == "__main__":
    main()
"""


def test_a_cluster_of_our_own_serves_no_stranger(tmp_path: Path) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, text in (("sbatch", "echo Submitted batch job 1"), ("scancel", ":"), ("squeue", ":")):
        (commands / name).write_text(f"#!/bin/sh\n{text}\n")
        (commands / name).chmod(0o755)
    script = tmp_path / "started.py"
    script.write_text(STARTED)
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    made = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    told = made.stdout.splitlines()
    assert made.returncode == 0, made.stderr
    assert "scheme tls" in told
    assert "ours 1" in told
    assert told.count("stranger refused") == 2
    assert not [line for line in told if "open" in line or "SERVED" in line], told
    files = [line for line in told if line.startswith("file")]
    assert files
    assert set(files) == {"file 0o0"}
