"""Movement and scripts as users have them: what each form becomes, and what is refused with what helps."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import manetlab
from manetlab import ns2_script
from manetlab.errors import InputError
from manetlab.resolving import Resolved

FCD = """<?xml version="1.0"?>
<fcd-export>
<timestep time="7.00"><vehicle id="car.0" x="0.0" y="5.0" speed="10"/></timestep>
<timestep time="8.00"><vehicle id="car.0" x="10.0" y="5.0"/><person id="ann" x="100.0" y="50.0"/></timestep>
<timestep time="9.00"><person id="ann" x="101.0" y="50.0"/></timestep>
</fcd-export>
"""
GPX = """<gpx><trk><name>Ann</name><trkseg>
<trkpt lat="47.0" lon="8.0"><time>2026-05-04T10:00:00Z</time></trkpt>
<trkpt lat="47.001" lon="8.0"><time>2026-05-04T10:00:10Z</time></trkpt></trkseg></trk></gpx>
"""
POINT = '{"type":"Feature","properties":{"id":"a","time":0},"geometry":{"type":"Point","coordinates":[8,47]}}'
SWITCHED = """$node_(0) set X_ 20
$node_(0) set Y_ 50
$node_(0) set Z_ 12
$node_(1) set X_ 0
$node_(1) set Y_ 0
$ns_ at 0.0 "$node_(0) switch OFF" ;# not there yet
$ns_ at 5.0 "$node_(0) setdest 100.0 50.0 1000000000.0"
$ns_ at 5.0 "$node_(0) switch ON"
$ns_ at 5.0 "$node_(1) setdest 30.0 40.0 0.0 5.0"
"""
DEGREES = """$node_(0) set X_ 8.5401
$node_(0) set Y_ 47.3701
$node_(1) set X_ 8.5423
$node_(1) set Y_ 47.3712
"""
LOOP = """for {set i 0} {$i < 3} {incr i} {
    $node_($i) set X_ [expr 20 + 180 * $i]
    $node_($i) set Y_ 50
}
"""
STUDENT = """# What students write: one script, nodes and flows inline.
set val(chan) Channel/WirelessChannel
set val(nn)   3
set val(rp)   AODV
set val(stop) 20.0
Phy/WirelessPhy set Pt_ 0.1
Mac/802_11 set dataRate_ 11Mb
Agent/TCP set window_ 8
set ns [new Simulator]
set tracefd [open out.tr w]
set namtrace [open out.nam w]
$ns trace-all $tracefd
$ns namtrace-all-wireless $namtrace 1000 1000
set topo [new Topography]
$topo load_flatgrid 1000 1000
create-god $val(nn)
$ns node-config -adhocRouting $val(rp) -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue \\
    -ifqLen 50 -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \\
    -channelType $val(chan) -topoInstance $topo -agentTrace ON -routerTrace ON -macTrace OFF
for {set i 0} {$i < $val(nn)} {incr i} {
    set node_($i) [$ns node]
    $node_($i) random-motion 0
    $node_($i) set X_ [expr 20 + 180 * $i]
    $node_($i) set Y_ 50.0
    $node_($i) set Z_ 0.0
    $ns initial_node_pos $node_($i) 20
}
MOVE
set udp [new Agent/UDP]
$ns attach-agent $node_(0) $udp
set null [new Agent/Null]
$ns attach-agent $node_(2) $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ 512
$cbr set rate_ 64kb
$cbr attach-agent $udp
$ns at 1.0 "$cbr start"
$ns at 15.0 "$cbr stop"
set tcp [new Agent/TCP/Newreno]
set sink [new Agent/TCPSink]
$ns attach-agent $node_(0) $tcp
$ns attach-agent $node_(1) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 2.0 "$ftp start"
proc finish {} {
    global ns tracefd
    $ns flush-trace
    close $tracefd
    exec nam out.nam &
    exit 0
}
for {set i 0} {$i < $val(nn)} {incr i} {
    $ns at $val(stop) "$node_($i) reset";
}
$ns at $val(stop) "finish"
puts "Starting Simulation..."
$ns run
"""


def resolved(path: Path, duration_s: float = 20.0, **fields: Any) -> Resolved:
    made = {"movement": str(path), "traffic": {"flows": []}, "duration_s": duration_s, **fields}
    return manetlab.Scenario(**made).resolve()


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        resolved(path)
    return caught.value


@pytest.mark.parametrize(
    ("text", "labels", "at_0", "at_2"),
    [
        (FCD, ["car.0", "ann"], [(0, 5), (100, 50)], [(10, 5), (101, 50)]),
        ("time,id,x,y\n0,b,0,0\n4,b,8,4\n0,a,1,1\n", ["b", "a"], [(0, 0), (1, 1)], [(4, 2), (1, 1)]),
        ("0 9 0 99 0 99\n0 2 0 0\n0 1 5 5\n4 2 8 4\n", ["1", "2"], [(5, 5), (0, 0)], [(5, 5), (4, 2)]),
        ("0.0 0 0 4.0 8 4\n0.0 5 5\n", None, [(0, 0), (5, 5)], [(4, 2), (5, 5)]),
        (LOOP, None, [(20, 50), (200, 50), (380, 50)], [(20, 50), (200, 50), (380, 50)]),
        (GPX, ["Ann"], [(0, 0)], [(0, 22.2)]),
        (f'{{"type":"FeatureCollection","features":[{POINT}]}}', ["a"], [(0, 0)], [(0, 0)]),
    ],
    ids=["fcd", "csv", "the-one", "bonnmotion", "loop", "gpx", "geojson"],
)
def test_a_file_is_read_by_its_content(
    tmp_path: Path,
    text: str,
    labels: list[str] | None,
    at_0: list[tuple[float, float]],
    at_2: list[tuple[float, float]],
) -> None:
    path = written(tmp_path, "movement.dat", text)
    movement = resolved(path).movement
    assert movement.labels == labels
    for time_s, places in ((0.0, at_0), (2.0, at_2)):
        for place, wanted in zip(movement.positions(time_s), places, strict=True):
            assert place == pytest.approx(wanted, abs=0.1)


def test_vehicles_appear_and_leave(tmp_path: Path) -> None:
    (tmp_path / "fcd.xml.gz").write_bytes(gzip.compress(FCD.encode()))
    movement = resolved(tmp_path / "fcd.xml.gz").movement
    there = [movement.present(time_s) for time_s in (0.5, 1.5, 2.5, 19.0)]
    assert there == [[True, False], [True, True], [False, True], [False, True]]
    assert any("7 s" in remark for remark in movement.remarks)


def test_nodes_of_ns2_switch_climb_and_keep_their_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "m.tcl", SWITCHED)
    with pytest.raises(InputError, match=r"radio\.path_loss"):
        # Two-ray ground has antennas at one height.
        resolved(path)
    movement = resolved(path, radio={"path_loss": "friis"}).movement
    assert [movement.present(time_s)[0] for time_s in (1.0, 6.0)] == [False, True]
    assert movement.positions(6.0)[0] == (100.0, 50.0)
    assert movement.heights(1.0)[0] == 12.0
    assert movement.positions(10.0)[1] == pytest.approx((15.0, 20.0))


def test_traffic_files_name_nodes_as_the_movement_file_does(tmp_path: Path) -> None:
    places = "".join(f"$node_({n}) set X_ {200 * n}\n$node_({n}) set Y_ 0\n" for n in (1, 3, 7))
    flow = """set udp_(0) [new Agent/UDP]
$ns_ attach-agent $node_(7) $udp_(0)
set null_(0) [new Agent/Null]
$ns_ attach-agent $node_(1) $null_(0)
set cbr_(0) [new Application/Traffic/CBR]
$cbr_(0) attach-agent $udp_(0)
$ns_ connect $udp_(0) $null_(0)
$ns_ at 1.0 "$cbr_(0) start"
"""
    files = written(tmp_path, "m.tcl", places), written(tmp_path, "t.tcl", flow)
    described = {"movement": str(files[0]), "traffic": str(files[1]), "duration_s": 9.0}
    found = manetlab.Scenario(**described).resolve()
    assert found.movement.labels == ["1", "3", "7"]
    assert [(each["src"], each["dst"]) for each in found.flows] == [(2, 0)]
    written(tmp_path, "t.tcl", flow.replace("node_(7)", "node_(2)"))
    with pytest.raises(InputError, match="no such node"):
        manetlab.Scenario(**described).resolve()


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        ("<!DOCTYPE html>\n<html><body>404</body></html>\n", "download the file itself"),
        ('<anim ver="netanim-3.108">\n', "NetAnim"),
        ('<?xml version="1.0"?>\n<scenario name="core">\n', "CORE"),
        ("0 10S (100.0, 200.0, 0.0)\n", "GloMoSim"),
        ('<net version="1.20">\n', "--fcd-output"),
        (DEGREES, "lon"),
        (FCD[:-60], "cut off"),
    ],
)
def test_other_files_are_refused_with_what_helps(tmp_path: Path, text: str, help_: str) -> None:
    assert help_ in str(refusal(written(tmp_path, "movement.dat", text)))


@pytest.mark.parametrize(
    ("encoding", "help_"), [("latin-1", "iconv -f LATIN1"), ("utf-16", "iconv -f UTF-16")]
)
def test_other_encodings_are_named(tmp_path: Path, encoding: str, help_: str) -> None:
    path = tmp_path / "movement.csv"
    path.write_bytes("time,id,x,y\n0,Jörg,1,2\n".encode(encoding))
    assert help_ in str(refusal(path))


def test_frames_and_parquet_are_movement() -> None:
    frame = pd.DataFrame({"time": [0, 10, 0], "id": [3, 3, 5], "x": [0.0, 100.0, 7.0], "y": [0.0, 0.0, 7.0]})
    for table in (frame, pa.Table.from_pandas(frame)):
        made = manetlab.Scenario(movement=table, traffic={"flows": []}, duration_s=10.0)
        movement = made.resolve().movement
        assert (movement.labels, movement.positions(5.0)) == (["3", "5"], [(50.0, 0.0), (7.0, 7.0)])
        again = manetlab.Scenario(**json.loads(json.dumps(made.to_dict())))
        assert again.resolve().hash == made.resolve().hash
    with pytest.raises(InputError, match="no columns of tracks"):
        manetlab.Tracks.of_frame(frame.rename(columns={"x": "u"}))


def test_parquet_of_dates_and_degrees(tmp_path: Path) -> None:
    times = pd.to_datetime(["2026-05-04T10:00:00", "2026-05-04T10:00:10"])
    table = pa.table({"timestamp": times, "id": ["a", "a"], "lon": [8.0, 8.0], "lat": [47.0, 47.001]})
    pq.write_table(table, tmp_path / "tracks.pq")
    movement = resolved(tmp_path / "tracks.pq").movement
    assert movement.positions(10.0)[0] == pytest.approx((0.0, 111.2), abs=0.1)
    (tmp_path / "tracks.pq").write_bytes(b"PAR1 and no more")
    assert "Parquet" in str(refusal(tmp_path / "tracks.pq"))


def test_the_parameters_of_bonnmotion_say_what_points_hold(tmp_path: Path) -> None:
    path = written(tmp_path, "rescue.movements", "0.0 1 2 1 10.0 3 4 2\n")
    assert ".params" in str(refusal(path))
    written(tmp_path, "rescue.params", "model=DisasterArea\nnn=1\n")
    assert [resolved(path).movement.present(time_s) for time_s in (5.0, 11.0)] == [[True], [False]]


def test_rows_without_a_place_in_frames_are_left_out() -> None:
    frame = pd.DataFrame(
        {
            "Timestamp (ms)": [1_700_000_000_000.0, 1_700_000_001_000.0, 1_700_000_002_000.0, float("nan")],
            "id": [0, 1, 2, 3],
            "user_id": ["Jörg", "Jörg", "ann", "ann"],
            "X [m]": [0.0, float("nan"), 5.0, 6.0],
            "Y [m]": [0.0, 1.0, 5.0, 6.0],
        }
    )
    for table in (frame, pa.Table.from_pandas(frame)):
        tracks = manetlab.Tracks.of_frame(table)
        assert tracks.labels == ["Jörg", "ann"]
        assert "2 rows without a time or a place are left out" in tracks.remarks
    assert tracks.to_movement()["tracks"][1]["t_s"] == [2.0]


def test_what_is_odd_about_a_log_is_said(tmp_path: Path) -> None:
    log = "time,id,lat,lon\n0,a,0,0\n1,a,47,8\n1,a,47.0001,8\n2,b,,\n3,b,47,8.001\n"
    remarks = manetlab.Tracks.load(written(tmp_path, "log.csv", log)).remarks
    assert [remark.split(" ", 1)[0] for remark in remarks[1:]] == ["1", "1", "1"]
    single = manetlab.Tracks.load(written(tmp_path, "rows.csv", "time,id,x,y\n0,0,1,2\n1,1,1,2\n"))
    assert "number of a row" in single.remarks[0]


def test_heights_can_be_left_out(tmp_path: Path) -> None:
    hike = GPX.replace("</trkpt>", "<ele>400</ele></trkpt>", 1).replace(
        "</trkpt></trkseg>", "<ele>460</ele></trkpt></trkseg>"
    )
    path = written(tmp_path, "hike.gpx", hike)
    assert "movement.flat = true" in str(refusal(path))
    flat = manetlab.Scenario(
        movement={"file": str(path), "flat": True}, traffic={"flows": []}, duration_s=10.0
    ).resolve()
    assert not flat.movement.has_heights and flat.movement.labels == ["Ann"]
    with pytest.raises(InputError, match="flat only beside file"):
        manetlab.Scenario(
            movement={"chain": {"nodes": 2}, "flat": True}, traffic={"flows": []}, duration_s=1.0
        )


# Names of nodes.

NAMED = "time,id,x,y\n0,Jörg M.,0,0\n0,car 7,150,0\n0,17,300,0\n"
CALL = {"kind": "cbr", "src": "Jörg M.", "dst": "17", "start_s": 1.0, "bytes": 100, "interval_s": 0.5}


def named(folder: Path, **changes: Any) -> manetlab.Scenario:
    path = written(folder, "named.csv", NAMED)
    return manetlab.Scenario(movement=str(path), traffic={"flows": [{**CALL, **changes}]}, duration_s=5.0)


def test_flows_name_nodes_as_the_movement_does(tmp_path: Path) -> None:
    by_name, by_number = named(tmp_path).resolve(), named(tmp_path, src=0, dst=2).resolve()
    assert by_name.hash == by_number.hash and by_name.flows[0]["dst"] == 2
    with pytest.raises(InputError, match=r"traffic.flows\[0\].src") as refused:
        named(tmp_path, src="Jorg").resolve()
    assert "one of Jörg M., car 7, 17" in str(refused.value)
    with pytest.raises(InputError, match="a destination other than the source"):
        named(tmp_path, src=2).resolve()
    chain = manetlab.Scenario(movement={"chain": {"nodes": 3}}, traffic={"flows": [CALL]}, duration_s=5.0)
    with pytest.raises(InputError, match="have no names"):
        chain.resolve()


def test_recordings_captures_and_pictures_have_the_names(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = manetlab.run(named(tmp_path), record=tmp_path / "a.mlrec", pcap=tmp_path / "a.pcapng")
    names = ["Jörg M.", "car 7", "17"]
    assert manetlab.recording.open(tmp_path / "a.mlrec").head["labels"] == names
    assert result.provenance["labels"] == names
    capture = (tmp_path / "a.pcapng").read_bytes()
    for said in ("node Jörg M.", "the radio of node 1 (car 7), 10.0.0.2", "\x01Jörg M.\x00"):
        assert said.encode() in capture, said
    assert [text.get_text() for text in result.plot("sent").get_yticklabels()] == ["0: Jörg M. → 17"]
    drawn = manetlab.pictures.plot(named(tmp_path).resolve())
    assert {text.get_text() for text in drawn.texts} == set(names)
    assert drawn.get_legend().get_texts()[0].get_text().startswith("Jörg M. → 17")


def test_who_is_absent_is_not_in_the_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    gone = "time,id,x,y,state\n0,a,0,0,on\n0,b,100,0,on\n5,b,100,0,off\n0,c,200,0,on\n"
    path = written(tmp_path, "gone.csv", gone)
    scenario = manetlab.Scenario(movement=str(path), traffic={"flows": []}, duration_s=10.0)
    titles = [manetlab.pictures.plot(scenario, at_s=at_s).get_title() for at_s in (0.0, 6.0)]
    assert [title.split(": ")[1].split(" of")[0] for title in titles] == [
        "3 nodes, 3 links",
        "2 nodes, 1 links",
    ]


# Scripts.


def imported(folder: Path, text: str) -> ns2_script.Imported:
    return ns2_script.read(written(folder, "script.tcl", text))


def command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "manetlab", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_script_becomes_a_scenario(tmp_path: Path) -> None:
    found = imported(tmp_path, STUDENT.replace("MOVE", ""))
    assert found.unknown == []
    nam = STUDENT.splitlines().index("    exec nam out.nam &") + 1
    assert any(note == f"line {nam}: programs are not run" for note in found.notes), found.notes
    data = found.data
    assert data["movement"] == {"positions": [[20.0, 50.0], [200.0, 50.0], [380.0, 50.0]]}
    assert (data["duration_s"], data["routing"], data["profile"]) == (20.0, "aodv", "ns-2.35")
    assert (data["radio"], data["queue"]) == ({"transmit_power_w": 0.1}, {"packets": 49})
    assert (data["mac"], data["tcp"]["sender"]) == ({"data_rate_bps": 11e6}, "newreno")
    cbr, tcp = data["traffic"]["flows"]
    assert cbr == {
        "kind": "cbr", "src": 0, "dst": 2, "start_s": 1.0, "stop_s": 15.0, "bytes": 512, "interval_s": 0.064
    }  # fmt: skip
    assert tcp == {"kind": "tcp", "src": 0, "dst": 1, "start_s": 2.0, "segment_bytes": 1000, "window": 8}


def test_a_script_runs_and_its_toml_runs_alike(tmp_path: Path) -> None:
    written(tmp_path, "script.tcl", STUDENT.replace("MOVE", '$ns at 2.0 "$node_(2) setdest 300.0 50.0 4.0"'))
    by_script = command("run", "script.tcl", "--json", folder=tmp_path)
    assert by_script.returncode == 0, by_script.stderr
    converted = command("scenario", "import", "script.tcl", "-o", "made.toml", folder=tmp_path)
    assert converted.returncode == 0, converted.stderr
    toml = tomllib.loads((tmp_path / "made.toml").read_text(encoding="utf-8"))
    assert toml["movement"] == {"file": "script.tcl"}
    by_toml = command("run", "made.toml", "--json", folder=tmp_path)
    assert json.loads(by_toml.stdout)["flows"] == json.loads(by_script.stdout)["flows"]
    assert json.loads(by_toml.stdout)["flows"][0]["received"] > 0


def test_files_beside_the_script_are_sourced(tmp_path: Path) -> None:
    written(tmp_path, "move.tcl", '$ns at 2.0 "$node_(2) setdest 300.0 50.0 4.0"\n')
    found = imported(tmp_path, STUDENT.replace("MOVE", 'source "/home/student/scen/move.tcl"'))
    assert found.files == ["/home/student/scen/move.tcl"]
    assert found.movement.positions(4.0)[2] == pytest.approx((372.0, 50.0))
    (tmp_path / "move.tcl").unlink()
    with pytest.raises(InputError, match=r"sources a file") as caught:
        imported(tmp_path, STUDENT.replace("MOVE", "source ../scen/move.tcl"))
    assert "script.tcl:28" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("$ns duplex-link $node_(0) $node_(1) 1Mb 10ms DropTail", "duplex-link"),
        ("Phy/WirelessPhy set mystery_ 3", "mystery_"),
        ("$node_(1) random-motion 1", "random motion"),
        ('$ns at 3 "[$node_(1) set ragent_] blackhole"', "blackhole"),
    ],
)
def test_what_changes_results_and_has_no_counterpart_is_an_error_by_line(
    tmp_path: Path, line: str, said: str
) -> None:
    found = imported(tmp_path, STUDENT.replace("MOVE", line))
    assert len(found.unknown) == 1
    assert found.unknown[0].startswith("line 28: ") and said in found.unknown[0]
    failed = command("run", "script.tcl", folder=tmp_path)
    assert failed.returncode != 0 and said in failed.stderr and "Traceback" not in failed.stderr
    anyway = command("scenario", "import", "script.tcl", "--anyway", folder=tmp_path)
    assert anyway.returncode == 0 and said in anyway.stderr and "[[traffic.flows]]" in anyway.stdout


@pytest.mark.parametrize("kind", ["Mac/802_15_4", "Propagation/Nakagami", "AOMDV"])
def test_models_that_are_not_here_are_named(tmp_path: Path, kind: str) -> None:
    stand_in = {
        "Mac/802_15_4": "Mac/802_11 -ifq",
        "Propagation/Nakagami": "Propagation/TwoRayGround",
        "AOMDV": "AODV",
    }
    old = stand_in[kind]
    new = kind + old.removeprefix("Mac/802_11") if kind.startswith("Mac") else kind
    found = imported(tmp_path, STUDENT.replace("MOVE", "").replace(old, new))
    assert len(found.unknown) == 1 and kind in found.unknown[0]


def test_a_propagation_that_is_given_as_an_object_is_named(tmp_path: Path) -> None:
    text = STUDENT.replace("MOVE", "").replace("-propType Propagation/TwoRayGround", "-propInstance $prop")
    for kind in ("TwoRayGround", "Shadowing"):
        made = text.replace("create-god", f"set prop [new Propagation/{kind}]\ncreate-god")
        unknown = imported(tmp_path, made).unknown
        assert [kind in each for each in unknown] == [True] * (kind == "Shadowing")


@pytest.mark.parametrize(
    "text",
    [
        "while 1 {}",
        "proc f {} {f}\nf",
        "set x [exec rm -rf /]",
        "set x a\nwhile 1 {append x $x}",
        "puts [string repeat x 3000000000]",
        "proc t {} {global ns; $ns at [expr [$ns now] + 0.001] t}\n$ns at 0 t\n$ns run",
        "set f [open /etc/passwd r]",
    ],
)
def test_hostile_scripts_end_in_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        imported(tmp_path, f"set ns [new Simulator]\n{text}\n")
    assert "script.tcl:" in str(caught.value) and caught.value.hint
