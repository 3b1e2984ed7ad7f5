"""Captures, which tshark reads, and traces in the form of ns-2, which awk reads, against what a run finds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab import InputError, Result
from manetlab.captures import DISSECTOR, Capture, Ns2Trace
from tests.conftest import ROOT
from validation.traces import NEW, OLD, measures

GOLDEN = ROOT / "golden"

CHAIN = {
    "duration_s": 12.0,
    "movement": {"chain": {"nodes": 4, "spacing_m": 200.0}},
    "traffic": {"flows": [{"kind": "tcp", "src": 0, "dst": 3, "start_s": 10.0}]},
    "mac": {"rts_threshold_bytes": 0},
}


def tshark(path: Path, *fields: str, where: str = "") -> list[dict[str, str]]:
    """The fields of each frame, as tshark reads them."""
    columns = [part for field in fields for part in ("-e", field)]
    command = ["tshark", "-X", f"lua_script:{DISSECTOR}", "-n", "-r", str(path), "-T", "fields", *columns]
    if where:
        command += ["-Y", where]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [
        dict(zip(fields, line.split("\t"), strict=True)) for line in done.stdout.splitlines() if line.strip()
    ]


def address(node: int | str) -> str:
    return "255.255.255.255" if node == "broadcast" else f"10.0.0.{int(node) + 1}"


def mac_address(node: int | str) -> str:
    return "ff:ff:ff:ff:ff:ff" if node == "broadcast" else f"02:00:0a:00:00:{int(node) + 1:02x}"


def records(result: Result, event: str) -> list[dict[str, Any]]:
    assert result.recording is not None
    lines = (json.loads(line) for line in result.recording.splitlines()[1:])
    return [line for line in lines if line["event"] == event]


def captured(folder: Path, receptions: bool = False, **fields: Any) -> tuple[Result, Path, Path]:
    """A run with its recording, its capture and its trace."""
    pcap, trace = folder / "run.pcapng", folder / "run.tr"
    result = manetlab.run(record=True, pcap=Capture(pcap, receptions=receptions), ns2_trace=trace, **fields)
    return result, pcap, trace


@pytest.mark.parametrize("routing", ["aodv", "dsr"])
def test_tshark_reads_every_frame_that_the_recording_has(tmp_path: Path, routing: str) -> None:
    result, pcap, _ = captured(tmp_path, **CHAIN, routing=routing)
    frames = records(result, "frame")
    read = tshark(
        pcap,
        "frame.time_epoch",
        "frame.interface_name",
        "wlan.fc.type_subtype",
        "wlan.ra",
        "wlan.ta",
        "wlan.duration",
        "radiotap.datarate",
        where="radiotap",
    )
    subtypes = {"rts": 0x1B, "cts": 0x1C, "ack": 0x1D, "data": 0x20}
    assert len(read) == len(frames) > 1000
    for frame, row in zip(frames, read, strict=True):
        assert abs(float(row["frame.time_epoch"]) - frame["t"]) < 1e-9
        assert row["frame.interface_name"] == f"node {frame['node']}"
        assert int(row["wlan.fc.type_subtype"], 0) == subtypes[frame["kind"]]
        assert row["wlan.ra"] == mac_address(frame["to"])
        assert row["wlan.ta"] == (mac_address(frame["node"]) if frame["kind"] in ("rts", "data") else "")
        # A broadcast and the last frame of an exchange reserve nothing.
        is_last = frame["kind"] == "ack" or frame["to"] == "broadcast"
        assert (int(row["wlan.duration"]) == 0) == is_last
        is_fast = frame["kind"] == "data" and frame["to"] != "broadcast"
        assert is_fast <= (float(row["radiotap.datarate"]) == 2)


@pytest.mark.parametrize("routing", ["aodv", "dsr"])
def test_every_packet_on_the_air_is_one_that_ip_sent(tmp_path: Path, routing: str) -> None:
    result, pcap, _ = captured(tmp_path, **CHAIN, routing=routing)
    sent = {
        (each["uid"], each["node"], address(each["src"]), address(each["dst"]), each["ttl"]): each["what"]
        for each in records(result, "sent")
    }
    read = tshark(
        pcap,
        *("frame.packet_id", "frame.interface_name", "ip.src", "ip.dst", "ip.ttl", "ip.id"),
        *("ip.checksum.status", "aodv.type", "tcp.flags.ack", "tcp.len", "dsr.option.type"),
        where="radiotap && ip",
    )
    kinds: Counter[str] = Counter()
    for row in read:
        uid, node = int(row["frame.packet_id"]), int(row["frame.interface_name"].split()[1])
        what = sent[uid, node, row["ip.src"], row["ip.dst"], int(row["ip.ttl"])]
        kinds[what] += 1
        assert int(row["ip.id"], 0) == uid % 2**16
        assert (what in ("tcp", "ack")) == (row["tcp.len"] != "")
        if routing == "aodv":
            types = {"rreq": "1", "rrep": "2", "rerr": "3", "hello": "2"}
            assert row["aodv.type"] == types.get(what, "")
        else:
            options = row["dsr.option.type"].split(",")
            assert (what == "rreq") <= ("1" in options)
            assert (what == "rrep") <= ("2" in options)
            assert (what in ("tcp", "ack")) <= ("96" in options)
    assert {"rreq", "rrep", "tcp", "ack"} <= set(kinds)


def test_frames_of_csma_are_data_and_those_of_fama_have_no_ack(tmp_path: Path) -> None:
    kinds = {"csma": {"data"}, "fama": {"rts", "cts", "data"}}
    for protocol, expected in kinds.items():
        mac = {"access_protocol": protocol}
        result, pcap, _ = captured(tmp_path, **{**CHAIN, "routing": "aodv", "mac": mac})
        frames = records(result, "frame")
        assert {frame["kind"] for frame in frames} == expected
        fields = ("wlan.fc.type_subtype", "wlan.fc.retry", "frame.comment", "_ws.malformed")
        read = tshark(pcap, *fields, where="radiotap")
        assert len(read) == len(frames) > 30
        subtypes = {"0x001b": "rts", "0x001c": "cts", "0x0020": "data"}
        for row, frame in zip(read, frames, strict=True):
            assert subtypes[row["wlan.fc.type_subtype"]] == frame["kind"]
            assert (row["wlan.fc.retry"], row["_ws.malformed"]) in {("0", ""), ("False", "")}
            is_longer = "the run charges 23 bytes for this frame, FCS included, instead of 14"
            assert (row["frame.comment"] == is_longer) == (frame["kind"] == "cts")


@pytest.mark.parametrize(("routing", "hello", "tc"), [("olsr", "1", "2"), ("olsr:olsrd", "201", "202")])
def test_tshark_reads_every_message_of_olsr(tmp_path: Path, routing: str, hello: str, tc: str) -> None:
    result, pcap, _ = captured(tmp_path, **CHAIN, routing=routing)
    messages = {"hello": {hello}, "tc": {tc}, "hello+tc": {hello, tc}}
    sent = {each["uid"]: each for each in records(result, "sent") if each["what"] in messages}
    fields = ("frame.packet_id", "olsr.message_type", "olsr.origin_addr", "olsr.packet_len", "_ws.malformed")
    read = tshark(pcap, *fields, where="radiotap && udp.port == 698")
    assert len(read) == len(sent) > 20
    whats = set()
    for row in read:
        packet = sent[int(row["frame.packet_id"])]
        types = row["olsr.message_type"].split(",")
        assert (set(types), row["_ws.malformed"]) == (messages[packet["what"]], "")
        if hello in types:
            origins = row["olsr.origin_addr"].split(",")
            assert origins[types.index(hello)] == address(packet["node"])
        # IP, UDP and the header of the packet.
        assert packet["bytes"] == int(row["olsr.packet_len"].split(",")[0]) + 28
        whats |= set(types)
    assert whats == {hello, tc}


@pytest.mark.parametrize("over", ["ipv6", "ipv4"])
def test_tshark_reads_every_tlv_of_babel(tmp_path: Path, over: str) -> None:
    result, pcap, _ = captured(tmp_path, **CHAIN, routing="babel:babeld", babel={"over": over})
    most_telling = {"hello": {"4", "5"}, "request": {"9", "10"}, "update": {"8"}}
    sent = {each["uid"]: each for each in records(result, "sent") if each["what"] in most_telling}
    fields = ("frame.packet_id", "babel.message.type", "babel.bodylen", "_ws.malformed")
    read = tshark(pcap, *fields, where="radiotap && udp.port == 6696")
    assert len({row["frame.packet_id"] for row in read}) == len(sent) > 20
    whats = set()
    for row in read:
        packet, types = sent[int(row["frame.packet_id"])], row["babel.message.type"].split(",")
        assert row["_ws.malformed"] == ""
        assert set(types) & most_telling[packet["what"]]
        # IP, UDP and the header of the packet.
        headers = {"ipv6": 40, "ipv4": 20}[over] + 8 + 4
        assert packet["bytes"] == int(row["babel.bodylen"]) + headers
        # Where IPv6 carries it, updates of IPv4's routes need a next hop.
        assert ("7" in types) == (over == "ipv6" and "6" in types)
        whats |= set(types)
    assert {"4", "5", "6", "8", "9"} <= whats


@pytest.mark.parametrize("routing", ["dymo:dymo-hello", "dymo:aodvv2"])
def test_tshark_reads_every_message_of_dymo(tmp_path: Path, routing: str) -> None:
    # A relay that is down makes errors.
    down = [{"node": 2, "at_s": 12.0, "for_s": 8.0}]
    result, pcap, _ = captured(tmp_path, **(CHAIN | {"duration_s": 20.0}), routing=routing, failures=down)
    kinds = {"rreq": "80", "rrep": "81", "rerr": "82", "hello": "83"}
    sent = {each["uid"]: each for each in records(result, "sent") if each["what"] in kinds}
    node, seqno, target = (f"manetlab.dymo.{name}" for name in ("node", "seqno", "target"))
    fields = ("frame.packet_id", "manetlab.kind", node, seqno, target, "udp.length", "_ws.malformed")
    read = tshark(pcap, *fields, "_ws.lua.error", where="radiotap && udp.port == 653")
    whats = set()
    for row in read:
        packet = sent[int(row["frame.packet_id"])]
        nodes = row[node].split(",")
        assert (row["manetlab.kind"], row["_ws.malformed"]) == (kinds[packet["what"]], "")
        assert row["_ws.lua.error"] == "" and packet["bytes"] == int(row["udp.length"]) + 20
        assert len(row[seqno].split(",")) == len(nodes)
        if packet["what"] == "rreq":
            assert (nodes[0], row[target]) in {(address(0), address(3)), (address(3), address(0))}
            # Who passes it on appends itself, or nobody does.
            assert nodes[-1] == (address(packet["node"]) if routing == "dymo:dymo-hello" else nodes[0])
        if packet["what"] == "hello":
            assert nodes == [address(packet["node"])]
        whats.add(packet["what"])
    assert whats == {"rreq", "rrep", "rerr"} | ({"hello"} if routing == "dymo:dymo-hello" else set())


def test_tshark_reads_every_packet_of_imep_and_message_of_tora(tmp_path: Path) -> None:
    # A relay that is down parts the chain, and the partition is cleared.
    down = [{"node": 2, "at_s": 12.0, "for_s": 8.0}]
    result, pcap, _ = captured(tmp_path, **(CHAIN | {"duration_s": 30.0}), routing="tora", failures=down)
    names = {"1": "qry", "2": "upd", "3": "clr", "": "imep"}
    sent = {each["uid"]: each for each in records(result, "sent") if each["what"] in names.values()}
    parts = ("manetlab.imep.hello", "manetlab.imep.ack", "manetlab.imep.responder")
    fields = ("frame.packet_id", "manetlab.tora.type", "ip.len", "_ws.malformed", "_ws.lua.error", *parts)
    whats, heard = set(), set()
    for row in tshark(pcap, *fields, where="radiotap && manetlab.kind == 96"):
        packet = sent[int(row["frame.packet_id"])]
        assert names[row["manetlab.tora.type"].partition(",")[0]] == packet["what"]
        assert (row["_ws.malformed"], row["_ws.lua.error"], int(row["ip.len"])) == ("", "", packet["bytes"])
        neighbours = {address(packet["node"] + step) for step in (-1, 1)}
        assert all(set(row[part].split(",")) <= {*neighbours, ""} for part in parts), "of a chain"
        whats.add(packet["what"])
        heard |= {part for part in parts if row[part]}
    assert (whats, heard) == ({"qry", "upd", "clr", "imep"}, set(parts))


@pytest.mark.parametrize(
    ("routing", "wanted"),
    [
        ("ssa", {"beacon": "128", "rreq": "129", "rrep": "130", "rerr": "131", "erase": "132"}),
        ("abr", {"beacon": "144", "rreq": "145", "lq": "146", "rrep": "147", "rn": "148,149,150"}),
    ],
)
def test_tshark_reads_every_message_of_ssa_and_abr(
    tmp_path: Path, routing: str, wanted: dict[str, str]
) -> None:
    # A relay that is down makes errors and repairs.
    down = [{"node": 2, "at_s": 12.0, "for_s": 8.0}]
    result, pcap, _ = captured(tmp_path, **(CHAIN | {"duration_s": 20.0}), routing=routing, failures=down)
    sent = {each["uid"]: each for each in records(result, "sent") if each["what"] in wanted}
    source, destination, node = (f"manetlab.{routing}.{name}" for name in ("source", "destination", "node"))
    fields = ("frame.packet_id", "manetlab.kind", source, destination, node, "ip.len", "_ws.malformed")
    read = tshark(pcap, *fields, "_ws.lua.error", where="radiotap && manetlab.kind >= 128")
    whats = set()
    for row in read:
        packet = sent[int(row["frame.packet_id"])]
        assert row["manetlab.kind"] in wanted[packet["what"]].split(",")
        assert (row["_ws.malformed"], row["_ws.lua.error"]) == ("", "")
        assert int(row["ip.len"]) == packet["bytes"]
        if packet["what"] == "beacon":
            assert (row[source], row[destination]) == (address(packet["node"]), address("broadcast"))
        else:
            assert {row[source], row[destination]} == {address(0), address(3)}
        if packet["what"] in ("rreq", "lq"):
            # Who passes it on appends itself.
            assert row[node].split(",")[-1] == address(packet["node"])
        whats.add(packet["what"])
    assert whats == set(wanted)


def test_tshark_reads_every_message_and_route_of_cedar(tmp_path: Path) -> None:
    # Six nodes in a row, so that the ends need a search, and a relay that is down makes errors.
    chain = {"movement": {"chain": {"nodes": 6, "spacing_m": 200.0}}, "duration_s": 40.0}
    flow = {"kind": "cbr", "src": 0, "dst": 5, "start_s": 12.0, "bytes": 256, "interval_s": 0.5}
    down = [{"node": 3, "at_s": 25.0, "for_s": 5.0}]
    result, pcap, _ = captured(tmp_path, **chain, traffic={"flows": [flow]}, routing="cedar", failures=down)
    whats = ("beacon", "join", "ask", "find", "found", "build", "rrep", "rerr")
    sent = {each["uid"]: each for each in records(result, "sent")}
    fields = ("frame.packet_id", "manetlab.kind", "manetlab.cedar.what", "manetlab.cedar.route")
    read = tshark(
        pcap, *fields, "ip.len", "_ws.malformed", "_ws.lua.error", where="radiotap && ip.proto == 253"
    )
    met = set()
    for row in read:
        packet = sent[int(row["frame.packet_id"])]
        assert (row["_ws.malformed"], row["_ws.lua.error"]) == ("", "")
        assert packet["bytes"] == int(row["ip.len"])
        if row["manetlab.kind"] == "160":
            assert packet["what"] == whats[int(row["manetlab.cedar.what"])]
        else:
            assert (row["manetlab.kind"], packet["what"]) == ("161", "cbr")
            route = row["manetlab.cedar.route"].split(",")
            assert (route[0], route[-1]) == (address(0), address(5))
        met.add(packet["what"])
    assert met == {*whats, "cbr"}


def test_tshark_reads_every_message_and_route_of_zrp(tmp_path: Path) -> None:
    # Eight nodes in a row, so that the ends are in nobody's zone at once; the last link breaks for good.
    chain = {"movement": {"chain": {"nodes": 8, "spacing_m": 200.0}}, "duration_s": 60.0}
    flow = {"kind": "cbr", "src": 0, "dst": 7, "start_s": 12.0, "bytes": 256, "interval_s": 0.5}
    down = [{"node": 6, "at_s": 30.0, "for_s": 15.0}]
    result, pcap, _ = captured(tmp_path, **chain, traffic={"flows": [flow]}, routing="zrp", failures=down)
    whats = ("beacon", "link-state", "query", "reply", "route-error")
    sent = {each["uid"]: each for each in records(result, "sent")}
    names = ("frame.packet_id", "manetlab.kind", "manetlab.zrp.path", "manetlab.zrp.origin", "frame.comment")
    read = tshark(
        pcap, *names, "ip.len", "_ws.malformed", "_ws.lua.error", where="radiotap && ip.proto == 253"
    )
    met = set()
    for row in read:
        packet = sent[int(row["frame.packet_id"])]
        assert (row["_ws.malformed"], row["_ws.lua.error"]) == ("", "")
        kind, path = int(row["manetlab.kind"]), row["manetlab.zrp.path"].split(",")
        if packet["what"] == "cbr":
            assert (kind, packet["bytes"]) == (181, int(row["ip.len"]))
        else:
            assert whats[kind - 176] == packet["what"]
            assert "the run charges" in row["frame.comment"] or packet["bytes"] == int(row["ip.len"])
        if packet["what"] in ("cbr", "reply", "route-error"):
            assert (path[0], path[-1]) == (address(0), address(7))
        if packet["what"] == "link-state" and row["manetlab.zrp.origin"] == address(3):
            assert packet["bytes"] in (20 + 8, 20 + 8 + 4, 20 + 8 + 8)
        met.add(packet["what"])
    assert met == {*whats, "cbr"}


def test_tshark_reads_every_message_and_header_of_batman_adv(tmp_path: Path) -> None:
    result, pcap, _ = captured(tmp_path, **CHAIN, routing="batman")
    sent = {each["uid"]: each for each in records(result, "sent")}
    fields = ("frame.packet_id", "frame.interface_name", "batadv.iv_ogm.orig", "batadv.iv_ogm.tvlv_len")
    read = tshark(pcap, *fields, "_ws.malformed", where="radiotap && batadv.iv_ogm.orig")
    assert len({row["frame.packet_id"] for row in read}) > 20
    for row in read:
        packet, origins = sent[int(row["frame.packet_id"])], row["batadv.iv_ogm.orig"].split(",")
        assert (packet["what"], row["_ws.malformed"]) == ("ogm", "")
        assert packet["bytes"] == len(origins) * (24 + 28)
        assert set(row["batadv.iv_ogm.tvlv_len"].split(",")) == {"28"}
    read = tshark(
        pcap, "frame.packet_id", "batadv.unicast.dst", "ip.dst", "tcp.len", where="batadv.unicast.dst"
    )
    assert len(read) > 100
    for row in read:
        packet = sent[int(row["frame.packet_id"])]
        assert packet["what"] in ("tcp", "ack") and row["tcp.len"]
        assert (row["ip.dst"], row["batadv.unicast.dst"]) == (
            address(packet["dst"]),
            mac_address(packet["dst"]),
        )


def test_tshark_reads_every_message_of_batmand(tmp_path: Path) -> None:
    result, pcap, _ = captured(tmp_path, **CHAIN, routing="batman:batmand")
    sent = {each["uid"]: each for each in records(result, "sent") if each["what"] == "ogm"}
    fields = ("frame.packet_id", "bat.batman.orig", "_ws.malformed")
    read = tshark(pcap, *fields, where="radiotap && udp.port == 4305")
    assert len(read) == len(sent) > 20
    for row in read:
        origins = row["bat.batman.orig"].split(",")
        packet = sent[int(row["frame.packet_id"])]
        assert (row["_ws.malformed"], packet["bytes"]) == ("", len(origins) * 18 + 28)


def test_arp_has_the_addresses_of_who_asks_and_who_answers(tmp_path: Path) -> None:
    result, pcap, trace = captured(tmp_path, **CHAIN, routing="aodv")
    read = tshark(
        pcap,
        "arp.opcode",
        "arp.src.proto_ipv4",
        "arp.dst.proto_ipv4",
        "arp.src.hw_mac",
        where="radiotap && arp",
    )
    lines = [line for line in trace.read_text().splitlines() if " MAC " in line and "ARP" in line]
    told = [
        re.search(r"\[(REQUEST|REPLY) (\d+)/\d+ \d+/(\d+)\]", line) for line in lines if line.startswith("s")
    ]
    assert (
        len(read)
        == len(told)
        == sum(frame["for"] == "arp" and frame["kind"] == "data" for frame in records(result, "frame"))
    )
    for row, line in zip(read, told, strict=True):
        assert line is not None
        operation, source, target = line.groups()
        assert row["arp.opcode"] == {"REQUEST": "1", "REPLY": "2"}[operation]
        assert (row["arp.src.proto_ipv4"], row["arp.dst.proto_ipv4"]) == (address(source), address(target))
        assert row["arp.src.hw_mac"] == mac_address(source)


def test_aodv_messages_say_the_same_in_capture_and_trace(tmp_path: Path) -> None:
    _, pcap, trace = captured(tmp_path, **CHAIN, routing="aodv")
    read = tshark(
        pcap,
        *("aodv.type", "aodv.hopcount", "aodv.rreq_id", "aodv.dest_ip", "aodv.dest_seqno"),
        *("aodv.orig_ip", "aodv.orig_seqno"),
        where="radiotap && aodv",
    )
    told = [
        line
        for line in trace.read_text().splitlines()
        if line.startswith("s") and " MAC " in line and " AODV " in line
    ]
    assert len(read) == len(told) > 4
    for row, line in zip(read, told, strict=True):
        if request := re.search(r"\[0x2 (\d+) (\d+) \[(\d+) (\d+)\] \[(\d+) (\d+)\]\] \(REQUEST\)", line):
            hops, number, dst, dst_seqno, origin, seqno = request.groups()
            found = (row["aodv.type"], row["aodv.hopcount"], row["aodv.rreq_id"], row["aodv.dest_seqno"])
            assert found == ("1", hops, number, dst_seqno)
            assert (row["aodv.dest_ip"], row["aodv.orig_ip"]) == (address(dst), address(origin))
            assert row["aodv.orig_seqno"] == seqno
        else:
            reply = re.search(r"\[0x4 (\d+) \[(\d+) (\d+)\] [\d.]+\] \(REPLY\)", line)
            assert reply is not None, line
            hops, dst, dst_seqno = reply.groups()
            assert (row["aodv.type"], row["aodv.hopcount"]) == ("2", hops)
            assert (row["aodv.dest_ip"], row["aodv.dest_seqno"]) == (address(dst), dst_seqno)


def test_tcp_counts_bytes_where_the_run_counts_segments(tmp_path: Path) -> None:
    tcp = {"sack": True, "timestamps": True, "ecn": True, "window": 64}
    result, pcap, trace = captured(tmp_path, **CHAIN, routing="aodv", tcp=tcp)
    read = tshark(
        pcap,
        *("tcp.seq_raw", "tcp.ack_raw", "tcp.len", "tcp.flags", "tcp.checksum.status", "ip.dst"),
        *("tcp.options.mss_val", "tcp.options.sack_perm", "tcp.options.wscale.shift"),
        *("tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr"),
        where="radiotap && tcp",
    )
    told = [
        re.search(r" (tcp|ack) \d+ \[.*\[(-?\d+) 0\] \d+ \d+$", line)
        for line in trace.read_text().splitlines()
        if line.startswith("s") and " MAC " in line and (" tcp " in line or " ack " in line)
    ]
    assert len(read) == len(told) > 100
    for row, line in zip(read, told, strict=True):
        assert line is not None
        kind, number = line.group(1), int(line.group(2))
        first_byte = max(0, 1 + 1460 * (number - 1))
        assert row["tcp.options.timestamp.tsval"] != ""
        if kind == "tcp":
            assert (int(row["tcp.seq_raw"]), row["ip.dst"]) == (first_byte if number else 0, address(3))
            assert int(row["tcp.len"]) == (1460 if number else 0)
        else:
            assert (int(row["tcp.ack_raw"]), row["ip.dst"]) == (1 + 1460 * number, address(0))
            assert row["tcp.len"] == "0"
            assert row["tcp.options.timestamp.tsecr"] != "0"
    syn, syn_ack = read[0], next(row for row in read if row["ip.dst"] == address(0))
    # SYN with ECE and CWR, its answer with ECE (RFC 3168 §6.1.1); a window of 64 segments needs a shift of 1.
    assert (int(syn["tcp.flags"], 0), int(syn_ack["tcp.flags"], 0)) == (0xC2, 0x52)
    for each in (syn, syn_ack):
        assert (each["tcp.options.mss_val"], each["tcp.options.wscale.shift"]) == ("1460", "1")
    assert syn_ack["tcp.seq_raw"] == "0"
    assert result.totals["tcp_throughput_bps"] > 0


def test_a_slow_reader_closes_the_window_and_the_sender_probes_it(tmp_path: Path) -> None:
    # Eight segments fill the buffer, the first is read after 2.3 s, and a probe comes after an RTO of 1 s.
    tcp = {"window": 8, "read_bps": 5_000.0}
    result, pcap, _ = captured(tmp_path, **CHAIN, routing="aodv", tcp=tcp)
    read = tshark(pcap, "tcp.window_size_value", "tcp.len", "tcp.seq_raw", "ip.dst", where="radiotap && tcp")
    windows = [int(row["tcp.window_size_value"]) for row in read if row["ip.dst"] == address(0)]
    assert {window % 1460 for window in windows} == {0}
    assert (max(windows), min(windows), windows[-1]) == (8 * 1460, 0, 0)
    probes = {row["tcp.seq_raw"] for row in read if row["ip.dst"] == address(3) and row["tcp.len"] == "0"} - {
        "0"
    }
    assert probes == {str(1 + 7 * 1460)}
    assert result.flows[0]["delivered_bytes"] == 8 * 1460
    assert result.flows[0]["retransmissions"] == 0


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.toml")), ids=lambda path: path.stem)
def test_no_frame_is_malformed_and_no_result_changes(tmp_path: Path, path: Path) -> None:
    pcap = tmp_path / "run.pcapng"
    result = manetlab.run(path, pcap=Capture(pcap), ns2_trace=tmp_path / "run.tr")
    golden = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert result.hash == golden["result_hash"]
    wrong = "_ws.malformed || _ws.lua.error || ip.checksum.status == 0 || tcp.checksum.status == 0"
    preferences = [
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "tcp.check_checksum:TRUE",
        "-o",
        "udp.check_checksum:TRUE",
    ]
    wrong += " || udp.checksum.status == 0"
    script = f"lua_script:{DISSECTOR}"
    done = subprocess.run(
        ["tshark", "-X", script, "-n", *preferences, "-r", str(pcap), "-Y", wrong, "-c", "5"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""
    lines = (tmp_path / "run.tr").read_text().splitlines()
    assert [line for line in lines if not OLD.fullmatch(line)] == []


def test_receptions_are_captured_only_on_request(tmp_path: Path) -> None:
    fields = ("frame.packet_flags_direction", "frame.interface_name", "wlan.ra", "radiotap.dbm_antsignal")
    _, pcap, _ = captured(tmp_path, **CHAIN, routing="aodv")
    assert {row["frame.packet_flags_direction"] for row in tshark(pcap, *fields, where="radiotap")} == {
        "0x00000002"
    }
    result, pcap, trace = captured(tmp_path, receptions=True, **CHAIN, routing="aodv")
    read = tshark(pcap, *fields, where="radiotap")
    arrived = [row for row in read if row["frame.packet_flags_direction"] == "0x00000001"]
    told = [line for line in trace.read_text().splitlines() if line.startswith("r") and " MAC " in line]
    assert len(arrived) == len(told) > len(records(result, "frame")) / 2
    for row in arrived:
        node = row["frame.interface_name"].split()[1]
        assert row["wlan.ra"] in (mac_address(node), mac_address("broadcast"))
        # Neighbours are 200 m apart; at 250 m the threshold of -64 dBm is reached.
        assert -64 < int(row["radiotap.dbm_antsignal"]) < -55


def test_drops_say_why(tmp_path: Path) -> None:
    waypoint = {"nodes": 40, "width_m": 1500, "height_m": 300, "speed_max": 20}
    fields = {
        "duration_s": 30.0,
        "movement": {"waypoint": waypoint},
        "traffic": {"random": {"cbr": 20, "cbr_interval_s": 0.1}},
    }
    result, pcap, trace = captured(tmp_path, **fields, routing="dsr", profile="ns-2.35")
    read = tshark(
        pcap,
        "frame.interface_name",
        "frame.packet_id",
        "frame.comment",
        where='frame.comment contains "dropped"',
    )
    drops = records(result, "dropped")
    of_ip = [row for row in read if row["frame.packet_id"]]
    assert len(of_ip) == len(drops) > 10
    for row, drop in zip(of_ip, drops, strict=True):
        assert row["frame.interface_name"] == f"node {drop['node']} drops"
        assert (int(row["frame.packet_id"]), row["frame.comment"]) == (
            drop["uid"],
            f"dropped: {drop['reason']}",
        )
    arps = sum(drop["count"] for drop in result.drops if drop["packets"] == "arp")
    assert len(read) - len(of_ip) == arps
    told = [line for line in trace.read_text().splitlines() if line.startswith("D")]
    assert sum(" COL " not in line for line in told) == len(drops) + arps


def test_only_the_chosen_nodes_capture(tmp_path: Path) -> None:
    pcap = tmp_path / "run.pcapng"
    manetlab.run(**CHAIN, routing="aodv", pcap=Capture(pcap, nodes=[3, 1]))
    names = {row["frame.interface_name"] for row in tshark(pcap, "frame.interface_name")}
    assert {name.removesuffix(" drops") for name in names} == {"node 1", "node 3"}


def test_lengths_that_a_profile_charges_stand_in_a_comment(tmp_path: Path) -> None:
    pcap = tmp_path / "run.pcapng"
    manetlab.run(**CHAIN, routing="aodv", profile="ns-2.35", pcap=pcap)
    read = tshark(pcap, "frame.comment", "aodv.type", "wlan.fc.type", where="radiotap")
    # A request has 28 bytes and no UDP header in ns-2.35, no LLC header, and a MAC header of 34 bytes.
    asked = "the run charges 82 bytes for this frame, FCS included, instead of 88"
    assert {row["frame.comment"] for row in read if row["aodv.type"] == "1"} == {asked}
    assert {row["frame.comment"] for row in read if row["wlan.fc.type"] == "1"} == {""}


@pytest.mark.parametrize("routing", ["aodv", "dsr", "dsdv"])
@pytest.mark.parametrize("form", ["old", "new"])
def test_old_scripts_find_what_we_measure(tmp_path: Path, routing: str, form: str) -> None:
    waypoint = {"nodes": 30, "width_m": 900, "height_m": 300, "speed_max": 10}
    trace = tmp_path / "run.tr"
    result = manetlab.run(
        duration_s=40.0,
        movement={"waypoint": waypoint},
        traffic={"random": {"cbr": 8, "tcp": 1}},
        routing=routing,
        profile="ns-2.35",
        tcp={"segment_bytes": 1000},
        ns2_trace=Ns2Trace(trace, form),
    )
    lines = trace.read_text().splitlines()
    grammar = OLD if form == "old" else NEW
    assert [line for line in lines if not grammar.fullmatch(line)][:3] == []
    times = [float(line.split()[1 if form == "old" else 2]) for line in lines]
    assert times == sorted(times)
    found = measures(trace)
    totals = result.totals
    assert found["sent"] == totals["cbr_sent"] > 500
    assert found["received"] == totals["cbr_received"]
    assert found["delivery_fraction"] == pytest.approx(totals["cbr_delivery_fraction"], abs=1e-9)
    assert found["delay_s"] == pytest.approx(totals["cbr_latency_mean_s"], abs=1e-9)
    assert found["routing_packets"] == pytest.approx(totals["routing_packets_per_s"] * 40, abs=1e-6)
    # Ours has the headers of data packets, too, which have no line of their own: DSR's, in words of 4 bytes
    # (RFC 4728 §6).
    headers = totals["routing_bytes_per_s"] * 40 - found["routing_bytes"]
    assert (headers > 0) == (routing == "dsr")
    assert headers / 4 == pytest.approx(round(headers / 4), abs=1e-6)
    tcp = [flow for flow in result.flows if flow["kind"] == "tcp"]
    assert found["tcp_received"] * 1000 == sum(flow["delivered_bytes"] for flow in tcp) > 0


def refused(**outputs: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        manetlab.run(**CHAIN, routing="aodv", **outputs)
    return caught.value


def test_what_cannot_be_captured_is_refused(tmp_path: Path) -> None:
    pcap = tmp_path / "run.pcapng"
    assert "the node does not exist" in str(refused(pcap=Capture(pcap, nodes=[0, 4])))
    assert "the capture has no node" in str(refused(pcap=Capture(pcap, nodes=[])))
    assert "old or new" in str(refused(ns2_trace=Ns2Trace(pcap, "newest")))
    assert "overwrite" in str(refused(pcap=pcap, ns2_trace=pcap))
    assert "no directory" in str(refused(pcap=tmp_path / "none" / "run.pcapng"))
    assert not pcap.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("output", ["pcap", "ns2_trace"])
def test_a_full_disk_ends_the_run_with_an_error(output: str) -> None:
    assert "cannot be written" in str(refused(**{output: "/dev/full"}))


def run_command(arguments: Iterable[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "manetlab", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_the_command_writes_both(tmp_path: Path) -> None:
    pcap, trace = tmp_path / "run.pcapng", tmp_path / "run.tr"
    capture = ["--pcap", str(pcap), "--pcap-nodes", "0,2", "--pcap-receptions"]
    traced = ["--ns2-trace", str(trace), "--ns2-trace-format", "new"]
    done = run_command(["run", "golden/chain3-tcp.toml", *capture, *traced])
    assert done.returncode == 0, done.stderr
    assert {
        row["frame.interface_name"] for row in tshark(pcap, "frame.interface_name", where="radiotap")
    } == {
        "node 0",
        "node 2",
    }
    assert trace.read_text().startswith("s -t ")
    for wrong in (["--pcap-nodes", "0"], ["--pcap-receptions"], ["--ns2-trace-format", "new"]):
        done = run_command(["run", "golden/chain3-tcp.toml", *wrong])
        assert (done.returncode, "has no file" in done.stderr) == (2, True), done.stderr
    done = run_command(["run", "golden/chain3-tcp.toml", "--pcap", str(pcap), "--pcap-nodes", "0-3"])
    assert (done.returncode, "these are not nodes" in done.stderr) == (2, True)


def test_the_dissector_is_where_the_command_says() -> None:
    done = run_command(["dissector"])
    assert Path(done.stdout.strip()) == DISSECTOR
    assert DISSECTOR.read_text(encoding="utf-8").startswith("-- Shows the formats")
